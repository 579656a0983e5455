"""Starts Spark for the programs (spark/README.md#starting-spark)."""

from __future__ import annotations

import atexit
import hashlib
import os
import shlex
import shutil
import string
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pyspark
from pyspark import SparkContext
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

import broker_core
from broker_core.spark.connect import connect
from broker_core.spark.java import Java, find_java
from broker_core.spark.masters import check_master as check_master
from broker_core.spark.masters import driver_host as driver_host
from broker_core.spark.masters import is_connect
from broker_core.spark.masters import is_local as is_local
from broker_core.spark.packed_code import packed_code
from broker_core.spark.source import RocketMQSource
from broker_core.spark.tasks import run_tasks as run_tasks

_MIB: Final = 1 << 20
# Spark requires less than 61: the 104 bytes of the strictest kernel minus ``/.<uuid>.sock``.
_LONGEST_SOCKET_FOLDER: Final = 60
_BATCHES: Final[Mapping[str, str]] = {
    "spark.sql.execution.arrow.maxBytesPerBatch": str(8 * _MIB),
    "spark.sql.execution.arrow.maxRecordsPerBatch": "8192",
}
# Without it Spark puts variables of the environment, properties of Java and settings into the texts of expressions.
_LITERAL: Final[Mapping[str, str]] = {"spark.sql.variable.substitute": "false"}
# They write each error of a query with its trace as one line of JSON; whoever catches the error writes it as text.
_JSON_LOGGERS: Final = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
_PLAIN: Final = frozenset(string.ascii_letters + string.digits + "./-")
_LOG_SETTINGS: Final = Path(__file__).with_name("log4j2.properties")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionConfig:
    """The settings of a program for its Spark."""

    app_name: str
    work_dir: Path
    """Spark's temporary files are in ``<work_dir>/tmp``; the owner of the folder removes it."""
    cache: Path
    """Kept between runs: the Java shim, the class archive and our code for executors."""
    master: str = "local[*]"
    java_home: str | None = None
    executor_python: str | None = None
    """The Python of a cluster's executors, with our dependencies; by default the path of this one."""
    jobs_at_once: int = 2
    """Divides the memory: each driver gets a quarter of the machine divided by this, at most 2 GiB."""
    is_short: bool = False
    """Make Java compile quickly rather than well: for work of seconds, or with little work in Java."""
    max_failures: int = 1
    """How often a task may fail; 1 for tasks that write, since each attempt sends again."""
    has_source: bool = True
    """Register ``format("rocketmq")``: Spark then looks for all Python sources, in a new Python: it takes a second."""
    record_archive: Path | None = None
    """Write a class archive to this file when the JVM ends, instead of using the one in the cache."""
    extra: Mapping[str, str] = field(default_factory=dict)
    """Spark's own settings, which go before ours."""


def start(config: SessionConfig) -> SparkSession:
    """Start Spark, register ``format("rocketmq")`` if wanted, and return the session.

    Changes this process's environment (``JAVA_HOME``, ``PYSPARK_PYTHON``, ``PYTHONPATH``), which the JVM and the Python
    workers inherit, so there is only one session per process. Raises JavaNotFound, and what `connect` raises.
    """
    check_master(config.master)
    for name in _JSON_LOGGERS:
        PySparkLogger.getLogger(name).disabled = True
    # The sockets of Python workers are in it.
    (config.work_dir / "tmp").mkdir(mode=0o700, parents=True, exist_ok=True)
    if is_connect(config.master):
        return connect(config.master, config.app_name, _sql_settings(config), our_code(config.cache))
    java = find_java(config.cache, setting=config.java_home)
    _prepare_environment(java, config)
    with _submitted(settings(config, java), config.work_dir / "tmp"):
        session = SparkSession.builder.getOrCreate()
    if not is_local(config.master):
        session.sparkContext.addPyFile(str(our_code(config.cache)))
    if config.has_source:
        session.dataSource.register(RocketMQSource)
    return session


def another(session: SparkSession) -> SparkSession:
    """Return a new session of the same Spark, with settings and views of its own; sources are those of the first."""
    return session.newSession()


def stop_java(session: SparkSession, *, within_s: float) -> None:
    """Stop Spark and its JVM; raise TimeoutExpired, after killing the JVM, if it takes longer."""
    gateway = session.sparkContext._gateway
    session.stop()
    if gateway is None:
        return
    gateway.shutdown()
    SparkContext._gateway = SparkContext._jvm = None
    # It ends when its standard input is closed.
    gateway.proc.stdin.close()
    try:
        gateway.proc.wait(within_s)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
        raise


def settings(config: SessionConfig, java: Java) -> dict[str, str]:
    """Return the Spark settings of `config`; spark/README.md#starting-spark has the reasons."""
    temporary = str(config.work_dir / "tmp")
    chosen = {
        "spark.app.name": config.app_name,
        "spark.master": _master(config),
        "spark.gantry.java.version": java.version,
        "spark.driver.memory": f"{_driver_memory_mib(config.jobs_at_once)}m",
        "spark.driver.maxResultSize": "256m",
        "spark.driver.extraJavaOptions": _java_options(config, java),
        "spark.local.dir": temporary,
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.python.unix.domain.socket.dir": _socket_folder(config.work_dir / "tmp"),
        "spark.python.worker.faulthandler.enabled": "true",
        "spark.speculation": "false",
        **_BATCHES,
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(max(8, 2 * (os.cpu_count() or 1))),
        "spark.sql.warehouse.dir": temporary,
        "spark.task.maxFailures": str(config.max_failures),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if is_local(config.master):
        chosen |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.python.daemon.module": "broker_core.spark.daemon",
            # Other users of this machine reach its ports too. Spark makes the secret itself, and only in memory.
            "spark.authenticate": "true",
        }
    else:
        host = driver_host(config.master, config.extra)
        chosen |= {
            "spark.driver.host": host,
            "spark.driver.bindAddress": host,
            "spark.driver.maxResultSize": "1g",
            # The socket folder is on this machine only.
            "spark.python.unix.domain.socket.enabled": "false",
        }
    return chosen | dict(config.extra) | dict(_LITERAL)


@contextmanager
def _submitted(chosen: Mapping[str, str], folder: Path) -> Iterator[None]:
    """Let the next JVM start with these settings, by a file that only this user may read and that exists until then.

    PySpark itself passes settings on the command line, which every user of the machine may read.
    """
    file = folder / "spark.conf"
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as opened:
        opened.writelines(f"{_property(name)}={_property(value)}\n" for name, value in chosen.items())
    # Spark leaves out the file in SPARK_CONF_DIR when it is given another one.
    arguments = ["--properties-file", str(file), "--load-spark-defaults", "pyspark-shell"]
    os.environ["PYSPARK_SUBMIT_ARGS"] = shlex.join(arguments)
    try:
        yield
    finally:
        del os.environ["PYSPARK_SUBMIT_ARGS"]
        file.unlink()


def _property(text: str) -> str:
    """Return a text as Java's ``Properties.load`` reads it."""
    wide = text.encode("utf-16-be")
    units = (int.from_bytes(wide[at : at + 2]) for at in range(0, len(wide), 2))
    return "".join(chr(unit) if chr(unit) in _PLAIN else f"\\u{unit:04x}" for unit in units)


def _sql_settings(config: SessionConfig) -> dict[str, str]:
    """Return the settings that a client of Spark Connect may change: all others are the server's."""
    chosen = {"spark.sql.session.timeZone": "UTC", **_BATCHES}
    return (
        chosen | {name: value for name, value in config.extra.items() if name.startswith("spark.sql.")} | dict(_LITERAL)
    )


def _socket_folder(preferred: Path) -> str:
    """Return a folder for Spark's sockets: a separate one if the job's path is too long for a socket."""
    if len(os.fsencode(preferred)) <= _LONGEST_SOCKET_FOLDER:
        return str(preferred)
    folder = tempfile.mkdtemp(prefix="gantry-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def shared_cache() -> Path:
    """Return the cache folder of this Python environment, for files that depend only on the installed software."""
    return Path(sys.prefix) / "var" / "gantry-spark"


def our_code(cache: Path) -> Path:
    """Return our code for executors, made at set-up or else now, in `cache`."""
    return packed_code(Path(broker_core.__file__).parent, (cache, shared_cache()))


def archive_path(java: Java, cache: Path) -> Path:
    """Return the path of the class archive for this Java build and this Spark; another build has another name."""
    jars = sorted(path.name for path in (_spark_home() / "jars").glob("*.jar"))
    build = "\n".join([java.version, str(java.home), pyspark.__version__, *jars])
    return cache / f"classes-{java.version}-{hashlib.sha256(build.encode()).hexdigest()[:12]}.archive"


def _master(config: SessionConfig) -> str:
    """Return the master, with the allowed failures of a task written into ``local[N]``."""
    if config.master.startswith("local[") and "," not in config.master:
        return f"{config.master[:-1]},{config.max_failures}]"
    return config.master


def _prepare_environment(java: Java, config: SessionConfig) -> None:
    root = str(Path(broker_core.__file__).parents[1])
    paths = [root, *(path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != root)]
    os.environ |= {
        "JAVA_HOME": str(java.home),
        "SPARK_HOME": str(_spark_home()),
        "PYSPARK_PYTHON": config.executor_python or sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        # Spark's launcher is a separate Java process, which only builds a command line.
        "SPARK_LAUNCHER_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "PYTHONPATH": os.pathsep.join(paths),
    }
    if is_local(config.master):
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"


def _spark_home() -> Path:
    return Path(pyspark.__file__).parent


def _driver_memory_mib(jobs_at_once: int) -> int:
    machine_mib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // _MIB
    return max(512, min(2048, machine_mib // 4 // max(1, jobs_at_once)))


def _java_options(config: SessionConfig, java: Java) -> str:
    chosen = [
        "-Xss4m",
        "-XX:+ExitOnOutOfMemoryError",
        f"-Djava.io.tmpdir={config.work_dir / 'tmp'}",
        f"-Dlog4j2.configurationFile={_LOG_SETTINGS.as_uri()}",
        *(["-XX:TieredStopAtLevel=1"] if config.is_short else []),
        *_archive_options(config, java),
    ]
    return " ".join(f'"{option}"' for option in chosen)


def _archive_options(config: SessionConfig, java: Java) -> list[str]:
    """Return the JVM options for recording or using a class archive; Java 25 has different ones."""
    has_aot_cache = java.major >= 25
    quiet = ["-Xlog:cds=off", "-Xlog:cds+dynamic=off", *(["-Xlog:aot=off"] if has_aot_cache else [])]
    if config.record_archive:
        return [f"-XX:{'AOTCacheOutput' if has_aot_cache else 'ArchiveClassesAtExit'}={config.record_archive}", *quiet]
    places = (archive_path(java, folder) for folder in (config.cache, shared_cache()))
    archive = next((path for path in places if path.exists()), None)
    if archive is None:
        return []
    use = f"-XX:AOTCache={archive}" if has_aot_cache else f"-XX:SharedArchiveFile={archive}"
    return [use, *quiet]
