"""Access control with plain access keys (broker/README.md#access-control)."""
