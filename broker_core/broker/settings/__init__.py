"""The broker's settings under RocketMQ's names."""

from broker_core.broker.settings.register import Settings

__all__ = ["Settings"]
