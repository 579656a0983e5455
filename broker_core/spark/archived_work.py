"""What is done while Java records the classes that it loads: what the programs do, on a few messages."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from broker_core.clock import now_ms
from broker_core.protocol.host import encode_host
from broker_core.protocol.message import Message
from broker_core.protocol.record import MessageOrigin
from broker_core.spark.comparing.comparison import SIDES, Comparison, Field
from broker_core.spark.comparing.evidence import find_differences
from broker_core.spark.comparing.judging import Judge
from broker_core.spark.comparing.pipeline import compared_side, find_suspects, group_count, read_suspects, same_types
from broker_core.spark.comparing.sides import topic_side
from broker_core.spark.options import SourceOptions
from broker_core.spark.reading import plan
from broker_core.spark.tasks import run_tasks
from broker_core.store.config import StoreConfig
from broker_core.store.incoming import Incoming
from broker_core.store.message_store import MessageStore

_HOST = encode_host("127.0.0.1", 0)


def do_what_programs_do(session: SparkSession, folder: Path) -> None:
    """Copy and compare messages of a store that it writes to `folder`."""
    options = _write_topic(folder / "store")
    by_expression = Comparison(None, (Field("n", "cast(body as string)", "tag"),), ("key", "key"))
    for comparison in (Comparison(), by_expression):
        sides = [compared_side(name, topic_side(options, plan(options)), comparison) for name in SIDES]
        sides = list(same_types(session, sides))
        found = read_suspects(find_suspects(session, sides, comparison).toArrow(), group_count(sides))
        differences = find_differences(session, sides, found, Judge(comparison), None)
        if differences is not None:
            differences.toArrow()
    run_tasks(session, [1, 2], str)


def _write_topic(folder: Path) -> SourceOptions:
    config = StoreConfig(folder, commit_log_file_size=1 << 20, min_free_bytes=0, index_slots=100, index_entries=400)
    now = now_ms()
    with MessageStore.open(config, now=now) as store:
        for number in range(100):
            message = Message.create("orders", b"%d" % number, keys=[f"k{number}"])
            store.put(Incoming.of(message, number % 2, MessageOrigin(now, _HOST, now, _HOST)))
        store.dispatch()
    return SourceOptions(topics=("orders",), stores=(folder,), brokers=("broker-a",))
