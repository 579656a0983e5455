"""The broker: takes messages, keeps them, hands them out; everything it knows of others it learns over the wire."""

from broker_core.broker.config import BrokerConfig, Identity, Periods, TopicDefaults
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.server import Broker

__all__ = ["Broker", "BrokerConfig", "BrokerLimits", "Identity", "Periods", "TopicDefaults"]
