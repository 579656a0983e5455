"""The broker's settings by their RocketMQ names."""

from broker_core.broker.settings.register import Settings

__all__ = ["Settings"]
