"""Messages in files, byte for byte as Apache RocketMQ 4.9 keeps them (store/README.md)."""

from broker_core.store.appender import PutResult, PutSeries
from broker_core.store.config import StoreConfig
from broker_core.store.dispatcher import Arrived
from broker_core.store.fetch import GetResult, GetStatus
from broker_core.store.message_store import FlushedUpTo, MessageStore
from broker_core.store.search import IndexSearch

__all__ = [
    "Arrived",
    "FlushedUpTo",
    "GetResult",
    "GetStatus",
    "IndexSearch",
    "MessageStore",
    "PutResult",
    "PutSeries",
    "StoreConfig",
]
