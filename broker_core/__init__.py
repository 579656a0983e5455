"""A RocketMQ-compatible broker, name server and client in plain Python."""

__version__ = "0.1.0"
