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

from broker_core.errors import GantryError
from broker_core.spark.java import find_java
from broker_core.spark.settings import SessionConfig, archive_path, our_code, shared_cache

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
    # Each start of Gantry asks for an archive, and mostly there is one: these imports would be most of what that costs.
    from broker_core.spark.archived_work import do_what_programs_do
    from broker_core.spark.session import start, stop_java

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
        do_what_programs_do(session, folder)
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
