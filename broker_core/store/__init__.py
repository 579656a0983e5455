"""Messages in files, byte for byte in the format of Apache RocketMQ 4.9 (store/README.md)."""

from broker_core.store.appended import AppendedBatch, AppendedRecord
from broker_core.store.config import StoreConfig
from broker_core.store.dispatcher import Arrived
from broker_core.store.durable import FlushedUpTo
from broker_core.store.fetch import GetResult, GetStatus
from broker_core.store.incoming import Incoming
from broker_core.store.key_search import IndexSearch
from broker_core.store.message_store import MessageStore

__all__ = [
    "AppendedBatch",
    "AppendedRecord",
    "Arrived",
    "FlushedUpTo",
    "GetResult",
    "GetStatus",
    "Incoming",
    "IndexSearch",
    "MessageStore",
    "StoreConfig",
]
