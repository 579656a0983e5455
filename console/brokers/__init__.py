"""The brokers of a cluster: their settings, their abilities, a first look at a cluster before it is added."""
