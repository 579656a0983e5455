"""Brokers that take signed requests over TLS from clients with a certificate: the source, the sink and the programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.functions import lit

from broker_core.client.blocking import BlockingSession
from broker_core.client.config import ClientConfig
from broker_core.protocol.signature import Credentials
from broker_core.remoting import ClientTls, ClientTlsFiles
from broker_core.spark.errors import BadUse, Unreachable
from broker_core.spark.options import parse_source_options
from broker_core.spark.reading import plan
from broker_core.spark.sink_options import parse_sink_options
from tests.support.certificates import PASSWORD
from tests.support.cluster import RunningBroker
from tests.support.programs import Program, kill
from tests.support.replays import fill_topic, make_topic, read_topic
from tests.support.tls_broker import authority_in, tls_broker, tls_settings
from tests.support.topics import order, orders
from tests.support.wait import wait_until

ACCOUNT = Credentials("spark-jobs", "secret-of-jobs")
ACCOUNTS = "accounts:\n- {accessKey: spark-jobs, secretKey: secret-of-jobs, admin: true}\n"
PATIENCE = 240.0


@dataclass(frozen=True)
class Secured:
    """A broker, and what a client needs to reach it."""

    running: RunningBroker
    files: ClientTlsFiles

    @property
    def options(self) -> dict[str, str]:
        """The options of Spark."""
        return {
            "nameServer": self.running.name_server,
            "accessKey": ACCOUNT.access_key,
            "secretKey": ACCOUNT.secret_key,
            "tls": "true",
            "tlsCaFile": str(self.files.authorities),
            "tlsCertFile": str(self.files.certificate),
            "tlsKeyFile": str(self.files.key),
            "tlsKeyPassword": PASSWORD,
        }

    @property
    def place(self) -> dict[str, Any]:
        """Where a program finds it."""
        return {
            "store": None,
            "broker": "broker-a",
            "name_servers": [self.running.name_server],
            "access_key": ACCOUNT.access_key,
            "secret_key": ACCOUNT.secret_key,
            "tls": msgspec.to_builtins(self.tls),
        }

    @property
    def tls(self) -> ClientTls:
        """The content of the files."""
        return self.files.read()

    @property
    def key_lines(self) -> list[str]:
        """What nobody may see."""
        return [line for line in self.tls.key.splitlines() if line and "-----" not in line]


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """A broker with TLS alone, client certificates and access control."""
    data = tmp_path_factory.mktemp("secured")
    authority, issued = authority_in(data / "certificates")
    client = authority.issue("spark", password=PASSWORD)
    (data / "broker" / "config").mkdir(parents=True)
    (data / "broker" / "config" / "plain_acl.yml").write_text(ACCOUNTS)
    needs = {"tls.server.need.client.auth": "require", "tls.server.trustCertPath": str(authority.certificate)}
    settings = {**tls_settings(issued, "enforcing", **needs), "aclEnable": "true"}
    files = ClientTlsFiles(authority.certificate, client.certificate, client.key, key_password=PASSWORD)
    with tls_broker(data, settings, files) as running:
        yield Secured(running, files)


@pytest.fixture(scope="module")
def client(secured: Secured) -> Iterator[BlockingSession]:
    """A client of the broker."""
    config = ClientConfig([secured.running.name_server], credentials=ACCOUNT, tls=secured.files)
    with BlockingSession(config) as running:
        yield running


def bodies(client: BlockingSession, topic: str) -> list[bytes]:
    return sorted(message.body for messages in read_topic(client, topic).values() for message in messages)


@pytest.mark.spark
def test_the_source_reads_and_the_sink_writes(spark: SparkSession, secured: Secured, client: BlockingSession) -> None:
    make_topic(client, "read-by-spark")
    make_topic(client, "written-by-spark")
    fill_topic(client, "read-by-spark", orders(100))

    table = spark.read.format("rocketmq").options(**secured.options, topic="read-by-spark").load().select("body")
    plans = table._jdf.queryExecution().toString()
    table.withColumn("topic", lit("written-by-spark")).write.format("rocketmq").options(**secured.options).mode(
        "append"
    ).save()

    assert bodies(client, "written-by-spark") == bodies(client, "read-by-spark")
    shown = plans + repr(spark.sparkContext.getConf().getAll())
    assert not [line for line in secured.key_lines if line in shown]
    assert PASSWORD not in shown


def commands_of(leader: int) -> str:
    """Return the command lines of the processes of a session."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "stat").read_text().rpartition(")")[2].split()[3] == str(leader):
                found.append((entry / "cmdline").read_text())
        except (FileNotFoundError, ProcessLookupError):
            continue
    return "\n".join(found)


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_a_replay_and_a_comparison_reach_the_brokers_and_show_no_key(
    tmp_path: Path, spark: SparkSession, spark_cache: Path, secured: Secured, client: BlockingSession
) -> None:
    # Given a topic
    make_topic(client, "orders")
    make_topic(client, "copy")
    fill_topic(client, "orders", orders(300))

    # When it is replayed by a program of its own, whose command lines are looked at while it works
    replay = Program(tmp_path / "replay", "replay", secured.place, spark_cache)
    limits = {"messages_per_second": 100}
    child = replay.start({"source": {"topic": "orders"}, "target": {"topic": "copy"}, "limits": limits})
    try:
        wait_until(lambda: replay.progress().get("written", 0) > 0 or child.poll() is not None, within=PATIENCE)
        commands = commands_of(child.pid)
        assert child.wait(PATIENCE) == 0, replay.log
    finally:
        kill(child)

    # Then all of it is copied
    assert bodies(client, "copy") == bodies(client, "orders")

    # And a comparison finds the message that came after it
    fill_topic(client, "copy", [order(5000)])
    compare = Program(tmp_path / "compare", "reconcile", secured.place, spark_cache)
    assert compare.run_here({"left": {"topic": "orders"}, "right": {"topic": "copy"}, "by": "body"}, spark) == 0
    tiles = compare.read("report.json")["tiles"]
    assert (tiles["matched"], tiles["missing_left"]) == (300, 1)

    # And the key stands in the request alone, which only its user may read
    files = [file for each in (replay, compare) for file in each.folder.rglob("*") if file.is_file()]
    seen = commands + "".join(file.read_text(errors="replace") for file in files if file.name != "request.json")
    assert "java" in commands
    assert not [line for line in secured.key_lines if line in seen]
    assert PASSWORD not in seen


@pytest.mark.parametrize(
    ("without", "says"),
    [
        (("tlsCertFile", "tlsKeyFile", "tlsKeyPassword"), "requires a client certificate"),
        (("tlsCaFile",), "certificate is not trusted"),
        (("tls", "tlsCaFile", "tlsCertFile", "tlsKeyFile", "tlsKeyPassword"), "the peer speaks TLS"),
        (("accessKey", "secretKey"), "No accessKey is configured"),
    ],
)
def test_a_read_that_is_refused_says_why(secured: Secured, without: tuple[str, ...], says: str) -> None:
    given = {name: text for name, text in secured.options.items() if name not in without}
    with pytest.raises(Unreachable, match=says):
        plan(parse_source_options({**given, "topic": "orders"}))


@pytest.mark.parametrize("parse", [parse_source_options, parse_sink_options])
def test_options_that_fit_nothing_are_refused(secured: Secured, parse: Any, tmp_path: Path) -> None:
    whole = {**secured.options, "topic": "orders"}
    with pytest.raises(BadUse, match="say nothing without tls=true"):
        parse({**whole, "tls": "false"})
    with pytest.raises(BadUse, match="absent: No such file"):
        parse({**whole, "tlsKeyFile": str(tmp_path / "absent")})
    with pytest.raises(BadUse, match="needs its key"):
        parse({name: text for name, text in whole.items() if name != "tlsKeyFile"})
    wrong = {**whole, "tlsKeyPassword": "a wrong password"}
    with pytest.raises(BadUse) as met:
        parse(wrong)
    assert "a wrong password" not in str(met.value)
    assert parse({"nameServer": "a:1", "topic": "orders", "tls": "false"}).tls is None


def test_no_text_of_the_options_shows_the_key(secured: Secured) -> None:
    shown = repr(parse_source_options({**secured.options, "topic": "orders"}))
    assert not [line for line in secured.key_lines if line in shown]
    assert PASSWORD not in shown
