"""The control plane: DRF views over clusters, topics, groups and messages, one file per resource."""
