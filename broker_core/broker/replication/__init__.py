"""Masters and slaves of a broker name (broker/README.md#following-a-master)."""
