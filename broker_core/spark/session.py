"""Starts Spark for the programs (spark/README.md#starting-spark)."""

from __future__ import annotations

import os
import shlex
import string
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from broker_core.spark.connect import connect
from broker_core.spark.java import Java, find_java
from broker_core.spark.jvm import SUBMIT, Jvm, launches_itself, start_jvm
from broker_core.spark.masters import check_master as check_master
from broker_core.spark.masters import driver_host as driver_host
from broker_core.spark.masters import is_connect
from broker_core.spark.masters import is_local as is_local
from broker_core.spark.settings import SessionConfig as SessionConfig
from broker_core.spark.settings import archive_path as archive_path
from broker_core.spark.settings import begin_java, our_code, prepare_environment, spark_home, sql_settings
from broker_core.spark.settings import settings as settings
from broker_core.spark.settings import shared_cache as shared_cache
from broker_core.spark.source import RocketMQSource
from broker_core.spark.tasks import run_tasks as run_tasks

# They write each error of a query with its trace as one line of JSON; whoever catches the error writes it as text.
_JSON_LOGGERS: Final = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
_PLAIN: Final = frozenset(string.ascii_letters + string.digits + "./-")


def start(config: SessionConfig, begun: Jvm | None = None) -> SparkSession:
    """Start Spark, register ``format("rocketmq")`` if wanted, and return the session.

    `begun` is a JVM that `begin_java` started before; it is ended if it does not fit.

    Changes this process's environment (``JAVA_HOME``, ``PYSPARK_PYTHON``, ``PYTHONPATH``), which the JVM and the Python
    workers inherit, so there is only one session per process. Raises JavaNotFound, and what `connect` raises.
    """
    check_master(config.master)
    for name in _JSON_LOGGERS:
        PySparkLogger.getLogger(name).disabled = True
    # The sockets of Python workers are in it.
    (config.work_dir / "tmp").mkdir(mode=0o700, parents=True, exist_ok=True)
    if is_connect(config.master):
        return connect(config.master, config.app_name, sql_settings(config), our_code(config.cache))
    java = find_java(config.cache, setting=config.java_home)
    prepare_environment(java, config)
    chosen = settings(config, java)
    jvm = begin_java(config, begun)
    if jvm is not None:
        _attach(jvm)
        SparkContext(conf=SparkConf().setAll(list(chosen.items())))
        session = SparkSession.builder.getOrCreate()
    else:
        session = _submit(java, chosen, config.work_dir / "tmp")
    if not is_local(config.master):
        session.sparkContext.addPyFile(str(our_code(config.cache)))
    if config.has_source:
        session.dataSource.register(RocketMQSource)
    return session


def _submit(java: Java, chosen: Mapping[str, str], folder: Path) -> SparkSession:
    """Start a JVM that knows its settings from the beginning: they may name jars, or belong to a cluster."""
    with _submitted(chosen, folder) as arguments:
        if launches_itself(chosen, os.environ):
            _attach(start_jvm(java.home, spark_home(), chosen, [SUBMIT, *arguments]))
        return SparkSession.builder.getOrCreate()


def _attach(jvm: Jvm) -> None:
    """Let PySpark use a JVM."""
    port, secret = jvm.wait()
    os.environ |= {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}
    try:
        gateway = launch_gateway()  # type: ignore[no-untyped-call]
    finally:
        del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]
    gateway.proc = jvm.process
    SparkContext._gateway, SparkContext._jvm = gateway, gateway.jvm


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


@contextmanager
def _submitted(chosen: Mapping[str, str], folder: Path) -> Iterator[list[str]]:
    """Give the arguments of a JVM with these settings: they name a file that only this user may read, until the end.

    PySpark itself passes settings on the command line, which every user of the machine may read.
    """
    file = folder / "spark.conf"
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as opened:
        opened.writelines(f"{_property(name)}={_property(value)}\n" for name, value in chosen.items())
    # Spark leaves out the file in SPARK_CONF_DIR when it is given another one.
    arguments = ["--properties-file", str(file), "--load-spark-defaults", "pyspark-shell"]
    os.environ["PYSPARK_SUBMIT_ARGS"] = shlex.join(arguments)
    try:
        yield arguments
    finally:
        del os.environ["PYSPARK_SUBMIT_ARGS"]
        file.unlink()


def _property(text: str) -> str:
    """Return a text as Java's ``Properties.load`` reads it."""
    wide = text.encode("utf-16-be")
    units = (int.from_bytes(wide[at : at + 2]) for at in range(0, len(wide), 2))
    return "".join(chr(unit) if chr(unit) in _PLAIN else f"\\u{unit:04x}" for unit in units)
