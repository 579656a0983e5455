"""What a broker is in its broker name, chosen once (broker/replication/README.md#modes)."""
