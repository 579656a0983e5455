"""The programs in examples/ work as described, with a real broker; docs/python-client.md shows them unchanged."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

import broker_core.client
from broker_core.client import BlockingSession, Message
from examples import broadcasting_consumer
from tests.support.cluster import RunningBroker, started_broker

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
PAGE = ROOT / "docs/python-client.md"
SENT = 1 + 10 + 100 + 3 + 1 + 1  # sent by examples/producer.py; one of them later
AT_ONCE = SENT - 1
LATER = "b'remind A17', delivery 1\n"


def run(name: str, *arguments: str) -> str:
    """Return the output of an example."""
    done = subprocess.run(
        [sys.executable, "-m", f"examples.{name}", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=180
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A broker with the topic of the examples."""
    with started_broker(tmp_path_factory.mktemp("examples")) as running:
        run("admin", running.name_server)
        yield running


@pytest.fixture(scope="module")
def produced(cluster: RunningBroker) -> str:
    """The output of the producer, whose messages are stored."""
    return run("producer", cluster.name_server)


def test_the_producer_sends_in_every_way(produced: str) -> None:
    assert "is at offset 0 of" in produced
    assert "stored 10 messages together" in produced
    assert "was not sent" not in produced
    assert "not stored: topic 'no-such-topic' does not exist" in produced


def test_administration_finds_what_was_sent(cluster: RunningBroker, produced: str) -> None:
    said = run("admin", cluster.name_server)
    held = int(re.findall(r"orders holds (\d+) messages", said)[0])
    assert held >= AT_ONCE - 1  # the one-way message may still be on its way
    assert "4 messages have the key A17" in said
    assert "runs V" in said
    assert re.search(r"billing has \d+ messages to read", said)


def test_the_push_consumer_handles_all_and_a_failed_one_again(cluster: RunningBroker, produced: str) -> None:
    with BlockingSession(cluster.config) as session:
        session.run(session.producer().send(Message.create("orders", b"bad")))
    said = run("push_consumer", cluster.name_server, str(AT_ONCE + 1))
    assert 'created b\'{"id": "A17", "amount": 189}\', delivery 1' in said
    assert "b'bad', delivery 2" in said


def test_the_orderly_consumer_keeps_the_order(cluster: RunningBroker, produced: str) -> None:
    said = run("orderly_consumer", cluster.name_server, str(AT_ONCE))
    steps = re.findall(r"b'(paid|packed|shipped)'", said)
    assert steps == ["paid", "packed", "shipped"]


def test_the_broadcasting_consumer_keeps_its_offsets_in_a_file(
    cluster: RunningBroker, produced: str, tmp_path: Path
) -> None:
    offsets = tmp_path / "offsets.json"
    said = run("broadcasting_consumer", cluster.name_server, str(AT_ONCE), str(offsets))
    assert len(said.splitlines()) >= AT_ONCE
    assert "orders" in offsets.read_text()


def test_lite_pull_polls_commits_and_seeks(cluster: RunningBroker, produced: str) -> None:
    said = run("lite_pull", cluster.name_server)
    assert int(re.findall(r"read (\d+) messages of 4 queues", said)[0]) >= AT_ONCE
    first, again = re.findall(r": (b'.*')", said)
    assert first == again


def test_the_lease_consumer_acknowledges_every_message(cluster: RunningBroker, produced: str) -> None:
    said = run("lease_consumer", cluster.name_server)
    assert len(re.findall(", delivery 1", said)) >= AT_ONCE
    again = run("lease_consumer", cluster.name_server)
    # The delayed message may come during either run.
    assert again in ([""] if LATER in said else ["", LATER])


def test_filters_over_properties_select_what_they_say(cluster: RunningBroker) -> None:
    said = run("sql_filters", cluster.name_server).splitlines()
    assert said == [
        "polled b'amount 150 of eu'",
        "polled b'amount 900 of us'",
        "leased b'amount 50 of eu'",
        "leased b'amount 150 of eu'",
        "refused: the text ends: a property, a value or a bracket is needed here, at character 9",
    ]


def test_blocking_sends_from_a_thread(cluster: RunningBroker) -> None:
    said = run("blocking", cluster.name_server)
    assert "is SEND_OK" in said
    assert re.search(r"there are \d+ topics", said)


def test_the_transaction_producer_commits_what_it_did_first(cluster: RunningBroker, tmp_path: Path) -> None:
    database = str(tmp_path / "orders.sqlite3")
    assert run("transaction_producer", cluster.name_server, database) == "A17: COMMIT\nA18: COMMIT\nA17: ROLLBACK\n"
    assert run("transaction_producer", cluster.name_server, database).count("ROLLBACK") == 3


def test_no_example_leaves_a_file_in_the_checkout() -> None:
    default = inspect.signature(broadcasting_consumer.main).parameters["offsets_file"].default
    assert f"{Path(default).parts[0]}/" in (ROOT / ".gitignore").read_text().split()


def test_every_python_block_of_the_page_is_in_an_example() -> None:
    programs = [textwrap.dedent(path.read_text()) for path in EXAMPLES.glob("*.py")]
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert blocks
    for block in blocks:
        indented = {textwrap.indent(block, " " * depth) for depth in (0, 4, 8, 12)}
        assert any(text in program for text in indented for program in programs), block


def test_the_page_names_only_public_names() -> None:
    for imported in re.findall(r"from broker_core\.client import \(?([\w, \n]+)", PAGE.read_text()):
        for name in re.findall(r"\w+", imported):
            assert name in broker_core.client.__all__
