"""Record the class archive with which Spark starts in half the time, ``python -m broker_core.spark.archive [FOLDER]``.

It runs what the programs run, on a few messages, and Java records the loaded classes. The archive belongs to
this Python environment, since it fits one build of Java and one version of Spark (spark/README.md#class-archive).
The code for executors of clusters is packed as well.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.protocol.host import encode_host
from broker_core.protocol.message import Message
from broker_core.protocol.record import MessageOrigin
from broker_core.spark.comparing.comparison import SIDES, Comparison, Field
from broker_core.spark.comparing.evidence import find_differences
from broker_core.spark.comparing.judging import Judge
from broker_core.spark.comparing.pipeline import compared_side, find_suspects, group_count, read_suspects, same_types
from broker_core.spark.comparing.sides import topic_side
from broker_core.spark.java import find_java
from broker_core.spark.options import SourceOptions
from broker_core.spark.reading import plan
from broker_core.spark.session import SessionConfig, archive_path, our_code, run_tasks, shared_cache, start, stop_java
from broker_core.store.config import StoreConfig
from broker_core.store.incoming import Incoming
from broker_core.store.message_store import MessageStore

_HOST = encode_host("127.0.0.1", 0)
# Some seconds on an idle machine; other work may take most of it.
_WRITTEN_WITHIN_S = 600.0
_LOOK_S = 0.1


def main() -> int:
    """Record the archive unless it exists; report a failure and succeed anyway, since the archive is optional."""
    parser = argparse.ArgumentParser(description="Record the class archive with which Spark starts in half the time.")
    parser.add_argument("folder", type=Path, nargs="?", metavar="FOLDER", help="by default that of this Python")
    folder = parser.parse_args().folder or shared_cache()
    try:
        our_code(folder)
        target = archive_path(find_java(folder), folder)
        if not target.exists():
            record(target)
    except (GantryError, OSError, PySparkException) as error:
        sys.stdout.write(f"Spark will start slowly, without a class archive: {error}\n")
    return 0


def record(target: Path) -> None:
    """Write the archive, complete or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_unfinished(target)
    beside = target.with_name(f"{target.name}.{os.getpid()}")
    with tempfile.TemporaryDirectory(prefix="gantry-archive-") as name:
        folder = Path(name)
        session = start(
            SessionConfig(
                app_name="archive", work_dir=folder, cache=target.parent, master="local[2]", record_archive=beside
            )
        )
        _do_what_programs_do(session, folder)
        try:
            # The JVM writes the archive when it ends.
            stop_java(session, within_s=_WRITTEN_WITHIN_S)
        except subprocess.TimeoutExpired as error:
            raise ArchiveNotWritten(f"Java did not end within {_WRITTEN_WITHIN_S:g} s") from error
        _wait_until_written(beside)
    beside.replace(target)


def remove_unfinished(target: Path) -> None:
    """Remove what recorders that were killed left beside the archive."""
    for file in target.parent.glob(f"{target.name}.*"):
        number = file.name.removeprefix(f"{target.name}.")
        if number.isdigit() and not Path("/proc", number).exists():
            file.unlink(missing_ok=True)


def _do_what_programs_do(session: SparkSession, folder: Path) -> None:
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


def _wait_until_written(archive: Path) -> None:
    """Wait for the file: since Java 25 a second process writes it after the first has ended."""
    deadline = time.monotonic() + _WRITTEN_WITHIN_S
    while not archive.exists():
        if time.monotonic() > deadline:
            raise ArchiveNotWritten(f"Java wrote no archive within {_WRITTEN_WITHIN_S:g} s")
        time.sleep(_LOOK_S)


class ArchiveNotWritten(GantryError):
    """The JVM ended without writing an archive."""


if __name__ == "__main__":
    sys.exit(main())
