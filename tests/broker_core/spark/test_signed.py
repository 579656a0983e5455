"""Reading from brokers with access control: signed with the account of the options."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from broker_core.client.blocking import BlockingSession
from broker_core.client.config import ClientConfig
from broker_core.protocol.signature import Credentials
from broker_core.spark.errors import Unreachable
from broker_core.spark.options import SourceOptions, parse_source_options
from broker_core.spark.reading import plan, read_rows
from tests.support.cluster import RunningBroker, started_broker
from tests.support.replays import fill_topic, make_topic
from tests.support.topics import orders

READER = Credentials("spark-reader", "secret-of-reader")
ADMIN = Credentials("administrator", "secret-of-admin")
ACCOUNTS = """\
accounts:
- {accessKey: administrator, secretKey: secret-of-admin, admin: true}
- {accessKey: spark-reader, secretKey: secret-of-reader, topicPerms: [orders=SUB], groupPerms: [TOOLS_CONSUMER=SUB]}
"""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A broker with access control that has a topic with 300 orders."""
    data = tmp_path_factory.mktemp("guarded")
    (data / "broker" / "config").mkdir(parents=True)
    (data / "broker" / "config" / "plain_acl.yml").write_text(ACCOUNTS)
    with started_broker(data, settings={"aclEnable": "true"}) as running:
        with BlockingSession(ClientConfig([running.name_server], credentials=ADMIN)) as session:
            make_topic(session, "orders")
            fill_topic(session, "orders", orders(300))
        yield running


def options_of(running: RunningBroker, **account: str) -> SourceOptions:
    return parse_source_options({"nameServer": running.name_server, "topic": "orders", **account})


def count(options: SourceOptions) -> int:
    return sum(batch.num_rows for part in plan(options) for batch in read_rows(part, options, ("body",)))


def test_the_account_of_the_options_reads(guarded: RunningBroker) -> None:
    assert count(options_of(guarded, accessKey=READER.access_key, secretKey=READER.secret_key)) == 300


@pytest.mark.parametrize(
    ("account", "says"),
    [
        ({}, "No accessKey is configured"),
        (
            {"accessKey": "spark-reader", "secretKey": "wrong-secret"},
            "Check signature failed for accessKey=spark-reader",
        ),
    ],
)
def test_a_read_that_is_refused_says_why(guarded: RunningBroker, account: dict[str, str], says: str) -> None:
    with pytest.raises(Unreachable, match=says):
        count(options_of(guarded, **account))


def test_the_secret_is_in_no_text_of_the_options(guarded: RunningBroker) -> None:
    options = options_of(guarded, accessKey=READER.access_key, secretKey=READER.secret_key)
    assert READER.secret_key not in repr(options)
