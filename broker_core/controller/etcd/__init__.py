"""Decisions in etcd, by its JSON gateway (controller/README.md#decisions-in-etcd)."""
