"""The broker: accepts, stores and delivers messages. It communicates with other processes only over the wire."""

from broker_core.broker.config import BrokerConfig, Identity, Periods, TopicDefaults
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.server import Broker

__all__ = ["Broker", "BrokerConfig", "BrokerLimits", "Identity", "Periods", "TopicDefaults"]
