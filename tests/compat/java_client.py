"""The unmodified Java client 4.9.8 as a child process: built once by Maven, driven line by line."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

PROJECT = Path(__file__).parent / "java"
TARGET = PROJECT / "target"
CLASS_PATH = f"{TARGET / 'classes'}:{TARGET / 'lib'}/*"


def missing_tool() -> str | None:
    """Return the first of javac, java and mvn that this machine lacks, or None."""
    return next((tool for tool in ("javac", "java", "mvn") if shutil.which(tool) is None), None)


def build() -> None:
    """Compile our program and fetch the client from Maven Central, unless the sources are older than the last build."""
    done = TARGET / "compat-1.jar"
    sources = [PROJECT / "pom.xml", *PROJECT.glob("src/**/*.java")]
    if done.exists() and all(source.stat().st_mtime < done.stat().st_mtime for source in sources):
        return
    subprocess.run(["mvn", "-q", "-B", "package"], cwd=PROJECT, check=True, timeout=600)


@dataclass(frozen=True)
class Received:
    """One message as the Java listener saw it."""

    number: int
    key: str
    tag: str
    queue_id: int
    queue_offset: int
    body: str
    reconsume_times: int


@dataclass
class Consumer:
    """A running push consumer and what it received so far."""

    process: subprocess.Popen[str]
    lines: list[list[str]] = field(default_factory=list)

    @property
    def received(self) -> list[Received]:
        """Return what the listener has seen, in its order."""
        rows = [line[1:] for line in list(self.lines) if line[0] == "received"]
        return [Received(int(n), key, tag, int(q), int(o), body, int(times)) for n, key, tag, q, o, body, times in rows]

    def said(self, word: str) -> bool:
        """Return whether the program has printed `word`."""
        return any(line[0] == word for line in list(self.lines))

    def stop(self) -> None:
        """End its input, so that it shuts down in order and keeps its offsets."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(30)


def send(name_server: str, topic: str, *, first: int, count: int) -> list[list[str]]:
    """Send messages `first`… synchronously; return one row each: sent, number, status, ids, queue, queue offset."""
    finished = subprocess.run(
        _command("send", name_server, topic, str(first), str(count)),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    rows = [line.split("\t") for line in finished.stdout.splitlines()]
    return [row for row in rows if row[0] == "sent"]


@contextmanager
def consuming(name_server: str, group: str, topic: str, tags: str = "*") -> Iterator[Consumer]:
    """Run a push consumer of `group` until the block ends."""
    process = subprocess.Popen(
        _command("consume", name_server, group, topic, tags),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    consumer = Consumer(process)
    reader = threading.Thread(target=_collect, args=(consumer,), daemon=True)
    reader.start()
    try:
        yield consumer
        consumer.stop()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        reader.join(5)


def _collect(consumer: Consumer) -> None:
    assert consumer.process.stdout is not None
    with consumer.process.stdout as lines:
        for line in lines:
            consumer.lines.append(line.rstrip("\n").split("\t"))


def _command(*arguments: str) -> list[str]:
    return ["java", "-Xshare:auto", "-cp", CLASS_PATH, "gantry.Client", *arguments]
