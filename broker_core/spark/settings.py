"""The settings of our Spark and the environment that it starts in; spark/README.md#starting-spark has the reasons."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

import pyspark

import broker_core
from broker_core.spark.java import Java, find_java
from broker_core.spark.jvm import GATEWAY, Jvm, jars, launches_itself, start_jvm
from broker_core.spark.masters import driver_host, is_local
from broker_core.spark.packed_code import packed_code

_MIB: Final = 1 << 20
# Spark requires less than 61: the 104 bytes of the strictest kernel minus ``/.<uuid>.sock``.
_LONGEST_SOCKET_FOLDER: Final = 60
_BATCHES: Final[Mapping[str, str]] = {
    "spark.sql.execution.arrow.maxBytesPerBatch": str(8 * _MIB),
    "spark.sql.execution.arrow.maxRecordsPerBatch": "8192",
}
# Of short work: the first compilation of generated Java costs more than the work.
_INTERPRETED: Final[Mapping[str, str]] = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
# Without it Spark puts variables of the environment, properties of Java and settings into the texts of expressions.
_LITERAL: Final[Mapping[str, str]] = {"spark.sql.variable.substitute": "false"}
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


def begin_java(config: SessionConfig, begun: Jvm | None = None) -> Jvm | None:
    """Start the JVM of a local Spark with settings of ours alone, which it gets when it can be reached, or use `begun`.

    Returns None for any other Spark, and ends `begun`: a JVM must know the operator's settings when it starts. Changes
    the environment of this process as `session.start` does; raises JavaNotFound.
    """
    java = find_java(config.cache, setting=config.java_home)
    prepare_environment(java, config)
    (config.work_dir / "tmp").mkdir(mode=0o700, parents=True, exist_ok=True)
    chosen = settings(config, java)
    if is_local(config.master) and not config.extra and launches_itself(chosen, os.environ):
        return start_jvm(java.home, spark_home(), chosen, [GATEWAY], begun)
    if begun is not None:
        begun.end()
    return None


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
    if config.is_short:
        chosen |= _INTERPRETED
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


def sql_settings(config: SessionConfig) -> dict[str, str]:
    """Return the settings that a client of Spark Connect may change: all others are the server's."""
    chosen = {"spark.sql.session.timeZone": "UTC", **_BATCHES}
    return (
        chosen | {name: value for name, value in config.extra.items() if name.startswith("spark.sql.")} | dict(_LITERAL)
    )


@cache
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
    build = "\n".join([java.version, str(java.home), pyspark.__version__, *(path.name for path in jars(spark_home()))])
    return cache / f"classes-{java.version}-{hashlib.sha256(build.encode()).hexdigest()[:12]}.archive"


def _master(config: SessionConfig) -> str:
    """Return the master, with the allowed failures of a task written into ``local[N]``."""
    if config.master.startswith("local[") and "," not in config.master:
        return f"{config.master[:-1]},{config.max_failures}]"
    return config.master


def prepare_environment(java: Java, config: SessionConfig) -> None:
    """Change the environment of this process to the one that the JVM and its Python workers need."""
    root = str(Path(broker_core.__file__).parents[1])
    paths = [root, *(path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != root)]
    os.environ |= {
        "JAVA_HOME": str(java.home),
        "SPARK_HOME": str(spark_home()),
        "PYSPARK_PYTHON": config.executor_python or sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        # Spark's launcher is a separate Java process, which only builds a command line.
        "SPARK_LAUNCHER_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "PYTHONPATH": os.pathsep.join(paths),
    }
    if is_local(config.master):
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"


def spark_home() -> Path:
    """Return the folder of this Python's Spark."""
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
        *archive_options(config, java),
    ]
    return " ".join(f'"{option}"' for option in chosen)


def archive_options(config: SessionConfig, java: Java) -> list[str]:
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
