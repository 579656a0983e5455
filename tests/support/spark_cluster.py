"""A standalone Spark cluster of one machine whose workers share no folder and no environment, and a Connect server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from broker_core.spark.java import find_java
from broker_core.spark.settings import SessionConfig, archive_options
from tests.support.ports import free_ports
from tests.support.wait import wait_until

_PATIENCE_SECONDS = 120.0
_ADDRESS = re.compile(r"Starting Spark master at (spark://\S+)")


@contextmanager
def spark_cluster(folder: Path, cache: Path, *, workers: int = 2) -> Iterator[str]:
    """Run a master and workers of one core each; yield the master's address."""
    started: list[subprocess.Popen[bytes]] = []
    anywhere = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
    log = folder / "master" / "log"
    try:
        started.append(_start(folder / "master", cache, ["master.Master", *anywhere]))
        wait_until(lambda: _ADDRESS.search(log.read_text()), within=_PATIENCE_SECONDS)
        (address,) = _ADDRESS.findall(log.read_text())
        worker = ["worker.Worker", *anywhere, "--cores", "1", "--memory", "1g", address]
        for number in range(workers):
            home = folder / f"worker-{number}"
            started.append(_start(home, cache, [*worker, "--work-dir", str(home / "work")]))
        wait_until(lambda: log.read_text().count("Registering worker") == workers, within=_PATIENCE_SECONDS)
        yield address
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait(_PATIENCE_SECONDS)


@contextmanager
def connect_server(folder: Path, cache: Path) -> Iterator[str]:
    """Run a Spark Connect server of two cores; yield its address for clients."""
    port = free_ports()
    command = [
        "SparkSubmit", "--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "--master", "local[2]",
        "--driver-memory", "1g",
        "--conf", f"spark.connect.grpc.binding.port={port}", "--conf", "spark.connect.grpc.binding.address=127.0.0.1",
        "--conf", "spark.ui.enabled=false", "--conf", "spark.sql.shuffle.partitions=2",
        "--conf", f"spark.sql.warehouse.dir={folder / 'warehouse'}", "spark-internal",
    ]  # fmt: skip
    server = _start(folder / "server", cache, command, PYSPARK_PYTHON=sys.executable, SPARK_DAEMON_MEMORY="1g")
    try:
        log = folder / "server" / "log"
        wait_until(lambda: "Spark Connect server started" in log.read_text() or server.poll(), within=_PATIENCE_SECONDS)
        assert server.poll() is None, log.read_text()
        yield f"sc://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(_PATIENCE_SECONDS)


def _start(folder: Path, cache: Path, command: list[str], **more: str) -> subprocess.Popen[bytes]:
    folder.mkdir()
    home = Path(pyspark.__file__).parent
    java = find_java(cache)
    archive = archive_options(SessionConfig(app_name="cluster", work_dir=folder, cache=cache), java)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "JAVA_HOME": str(java.home),
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        # For the daemons and, by inheritance, for the executors: none works long enough to gain from more.
        "JDK_JAVA_OPTIONS": " ".join(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", *archive]),
        **more,
    }
    name, *arguments = command
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *arguments],
            cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
