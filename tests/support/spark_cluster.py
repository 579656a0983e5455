"""A standalone Spark cluster of one machine whose workers share no folder and no environment, and a Connect server.

Java is started without Spark's launcher, which is a JVM of its own, and with the class archive of jobs: it fits each
class path that begins with theirs.
"""

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
from broker_core.spark.jvm import OPTIONS, jars
from broker_core.spark.settings import SessionConfig, archive_options
from tests.support.ports import free_ports
from tests.support.wait import wait_until

_PATIENCE_SECONDS = 240.0
# None works long enough to gain from more.
_SHORT = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_ADDRESS = re.compile(r"Starting Spark master at (spark://\S+)")


@contextmanager
def spark_cluster(folder: Path, cache: Path) -> Iterator[str]:
    """Run a master and a worker of two cores; yield the master's address."""
    started: list[subprocess.Popen[bytes]] = []
    anywhere = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
    log = folder / "master" / "log"
    try:
        started.append(_start(folder / "master", cache, ["master.Master", *anywhere]))
        wait_until(lambda: _ADDRESS.search(log.read_text()), within=_PATIENCE_SECONDS)
        (address,) = _ADDRESS.findall(log.read_text())
        home = folder / "worker"
        worker = ["worker.Worker", *anywhere, "--cores", "2", "--memory", "1g", "--work-dir", str(home / "work")]
        started.append(_start(home, cache, [*worker, address]))
        wait_until(lambda: "Registering worker" in log.read_text(), within=_PATIENCE_SECONDS)
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
        "--conf", f"spark.connect.grpc.binding.port={port}", "--conf", "spark.connect.grpc.binding.address=127.0.0.1",
        "--conf", "spark.ui.enabled=false", "--conf", "spark.sql.shuffle.partitions=2",
        "--conf", f"spark.sql.warehouse.dir={folder / 'warehouse'}", "spark-internal",
    ]  # fmt: skip
    server = _start(folder / "server", cache, command, memory="1g", PYSPARK_PYTHON=sys.executable)
    try:
        log = folder / "server" / "log"
        wait_until(lambda: "Spark Connect server started" in log.read_text() or server.poll(), within=_PATIENCE_SECONDS)
        assert server.poll() is None, log.read_text()
        yield f"sc://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(_PATIENCE_SECONDS)


def executor_settings(folder: Path) -> Path:
    """Return a file with settings of jobs whose executors have a class path that fits the archive, as jobs do."""
    file = folder / "spark.conf"
    file.write_text(f"spark.executor.extraClassPath {_class_path()}\n")
    return file


def _class_path() -> str:
    return os.pathsep.join(map(str, jars(Path(pyspark.__file__).parent)))


def _start(
    folder: Path, cache: Path, command: list[str], *, memory: str = "256m", **more: str
) -> subprocess.Popen[bytes]:
    folder.mkdir()
    home = Path(pyspark.__file__).parent
    java = find_java(cache)
    archive = archive_options(SessionConfig(app_name="cluster", work_dir=folder, cache=cache), java)
    # A Connect server needs what jobs leave out.
    rest = sorted(set((home / "jars").glob("*.jar")) - set(jars(home)))
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "JAVA_HOME": str(java.home),
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        # Its launcher, which starts executors, looks for no folder of another one.
        "SPARK_SCALA_VERSION": next((home / "jars").glob("spark-core_*.jar")).name.removeprefix("spark-core_")[:4],
        # For the executors too, by inheritance.
        "JDK_JAVA_OPTIONS": " ".join([*_SHORT, *archive]),
        **more,
    }
    name, *arguments = command
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            [
                str(java.home / "bin" / "java"), "-cp", os.pathsep.join([_class_path(), *map(str, rest)]),
                f"-Xmx{memory}", *OPTIONS, f"org.apache.spark.deploy.{name}", *arguments,
            ],
            cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
