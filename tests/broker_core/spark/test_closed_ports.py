"""What other users of the machine reach of a local Spark: ports that answer nobody without a secret."""

from __future__ import annotations

import os
import socket
import stat
import struct
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from broker_core.spark.session import run_tasks

pytestmark = pytest.mark.spark

_RPC_REQUEST, _RPC_FAILURE = 3, 5
_LISTENING = "0A"


def only(spark: SparkSession, name: str) -> Any:
    """Return the one instance of a Scala object."""
    jvm: Any = spark._jvm
    return jvm.java.lang.Class.forName(f"{name}$").getField("MODULE$").get(None)


def ask_how_much_memory(spark: SparkSession, conf: Any) -> str:
    """Ask the block manager's RPC for its memory, as another process with the settings `conf` would."""
    jvm: Any = spark._jvm
    for name in ("spark.rpc.askTimeout", "spark.rpc.lookupTimeout"):
        conf.set(name, "20s")
    secret_file = only(spark, "org.apache.spark.internal.config.package").AUTH_SECRET_FILE()
    security = jvm.org.apache.spark.SecurityManager(conf, jvm.scala.Option.empty(), secret_file)
    caller = jvm.org.apache.spark.rpc.RpcEnv.create("caller", "127.0.0.1", 0, conf, security, True)
    try:
        address = jvm.org.apache.spark.rpc.RpcAddress("127.0.0.1", port_of(spark, "spark.driver.port"))
        anything = only(spark, "scala.reflect.ClassTag").apply(jvm.java.lang.Class.forName("java.lang.Object"))
        question = only(spark, "org.apache.spark.storage.BlockManagerMessages$GetMemoryStatus")
        answer = caller.setupEndpointRef(address, "BlockManagerMaster").askSync(question, anything)
        return str(answer.toString())
    finally:
        caller.shutdown()


def port_of(spark: SparkSession, name: str) -> int:
    if name == "blocks":
        context: Any = spark.sparkContext._jsc
        return int(context.sc().getExecutorMemoryStatus().keysIterator().next().rpartition(":")[2])
    return int(spark.sparkContext.getConf().get(name) or 0)


def test_sparks_rpc_answers_only_who_has_its_secret(spark: SparkSession) -> None:
    context: Any = spark.sparkContext._jsc
    jvm: Any = spark._jvm
    own, stranger = context.sc().conf().clone(), jvm.org.apache.spark.SparkConf(False)
    assert "driver" in ask_how_much_memory(spark, own)
    with pytest.raises(Py4JJavaError) as refused:
        ask_how_much_memory(spark, stranger)
    assert "Expected SaslMessage" in refused.value.java_exception.getCause().getMessage()


@pytest.mark.parametrize("name", ["spark.driver.port", "blocks"])
def test_a_message_without_a_secret_is_refused_by_each_port_of_spark(spark: SparkSession, name: str) -> None:
    body = b"anything"
    content = struct.pack(">Bqi", _RPC_REQUEST, 1, len(body)) + body
    with socket.create_connection(("127.0.0.1", port_of(spark, name)), timeout=20) as stranger:
        stranger.sendall(struct.pack(">q", 8 + len(content)) + content)
        answer = stranger.recv(1 << 16)
    assert answer[8] == _RPC_FAILURE
    assert b"Expected SaslMessage" in answer


@pytest.mark.parametrize("greeting", [b"r\nu\nSystem\nrj\ne\n", b"A\nguessed\ne\n"], ids=["none", "wrong"])
def test_the_port_for_python_asks_for_its_token(spark: SparkSession, greeting: bytes) -> None:
    gateway: Any = spark.sparkContext._gateway
    with socket.create_connection(("127.0.0.1", gateway.gateway_parameters.port), timeout=20) as stranger:
        stranger.sendall(greeting)
        assert b"Authentication error" in stranger.recv(1 << 16)


def test_python_workers_listen_on_no_port_and_their_sockets_are_where_only_their_user_may_look(
    spark: SparkSession,
) -> None:
    gateway: Any = spark.sparkContext._gateway
    assert len(listening(gateway.proc.pid)) == 3
    assert run_tasks(spark, [1], ports_of_this_worker) == [[]]
    folder = Path(spark.sparkContext.getConf().get("spark.python.unix.domain.socket.dir") or "")
    assert list(folder.glob(".*.sock"))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def ports_of_this_worker(_: int) -> list[str]:
    """Return where this worker and the process that forked it listen."""
    return listening(os.getpid()) + listening(os.getppid())


def listening(pid: int) -> list[str]:
    """Return the local addresses at which a process listens."""
    inodes = {str(file.stat().st_ino) for file in Path(f"/proc/{pid}/fd").iterdir() if file.is_socket()}
    tables = (Path(f"/proc/net/{name}").read_text() for name in ("tcp", "tcp6"))
    lines = (line.split() for table in tables for line in table.splitlines()[1:])
    return [line[1] for line in lines if line[3] == _LISTENING and line[9] in inodes]
