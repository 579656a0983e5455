"""Expressions of SQL92 filters that are long, deep, damaged or random: compiled here, and sent to a real broker.

Each compiles or is refused with its place, soon and in little memory; each request is answered, and the broker serves
on afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from random import Random
from typing import Final

import pytest

from broker_core.client import Message, Producer
from broker_core.protocol import bodies
from broker_core.protocol.bodies.heartbeat import (
    CheckClientRequestBody,
    ConsumerData,
    ConsumeType,
    HeartbeatData,
    MessageModel,
    SubscriptionData,
)
from broker_core.protocol.codes import PULL_SUBSCRIPTION
from broker_core.protocol.command import Command
from broker_core.protocol.headers.clients import CheckClientConfigRequest, HeartBeatRequest
from broker_core.protocol.headers.pop import PopMessageRequest
from broker_core.protocol.headers.pull import PullMessageRequest
from broker_core.protocol.properties import format_properties, parse_properties
from broker_core.sql92 import MAX_CHARACTERS, IllegalExpression, compile_sql92
from broker_core.sql92.tokens import RESERVED
from broker_core.store.fetch import PropertyTest
from tests.fuzz.cases import BASE_SEED, TIMES, run_cases
from tests.fuzz.mutations import mutate
from tests.fuzz.test_live import answers_to, resident_bytes, serves_well, tracebacks
from tests.support.cluster import RunningBroker, create_topic, started_broker
from tests.support.walks import selected

TOPIC: Final = "orders"
REQUESTS: Final = int(600 * TIMES)
TOGETHER: Final = 50
# What the header of a frame holds; a connection with a longer one is closed.
HEADER: Final = 30_000
MOST_GROWTH: Final = 200 * 1024 * 1024
LITERALS: Final = ("0", "5", "5L", "5.5", ".5", "5E10", "9" * 400, "1e999", "0.0", "'x'", "''", "'it''s'", "'蛇'", "a")
MARKS: Final = (
    "(",
    ")",
    ",",
    "=",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "+",
    "-",
    "'",
    "/*",
    "*/",
    "--",
    "\n",
    "\0",
    "#",
    "\\",
    "{",
)
TOKENS: Final = (*sorted(RESERVED), *LITERALS, *MARKS, "a", "b", "p0", "t0", "__class__", "equal", "$1")
UNITS: Final = (
    "(", "NOT ", "-", "+", "- (", "NOT (", "-(a=1) BETWEEN 1 AND 2 OR ", "a=", "a=1<>", "a IS NULL ", "a=1 OR ",
    "a=1 AND NOT b=2 OR ", "a IN ('x') OR ", "a CONTAINS 'x' AND ", "a BETWEEN 1 AND 2 OR ", "''", "/**/", "--\n", "9",
)  # fmt: skip
VALUES: Final = ("5", "x", "9" * 3_000, "1" * 3_000 + "x", "." + "1" * 3_000 + "x", "0x" + "1" * 3_000, "", "NaN")

_versions: Final = count(1)


def expression(random: Random) -> str:
    """Return an expression of one of several kinds, some longer than what is taken."""
    return random.choice((soup, repeated, nested, listed, damaged, letters))(random)


def soup(random: Random) -> str:
    return " ".join(random.choices(TOKENS, k=random.randrange(40)))


def repeated(random: Random) -> str:
    """Return one piece many times, with an end that makes some of them legal."""
    unit = random.choice(UNITS)
    return f"{unit * random.randrange(1, MAX_CHARACTERS // len(unit))}{random.choice(('a = 1', 'a', ''))}"


def nested(random: Random) -> str:
    """Return brackets in brackets, closed, each with a tail."""
    times = random.choice((3, 12, 20, 31, 63, 64, 1000))
    opened = random.choice(("(", "NOT (", "-(", "+(", "NOT (b = 1 OR ", "(a = 1 AND "))
    tail = random.choice(("", " = 1", " BETWEEN 1 AND 2", " BETWEEN 1 AND 2 OR b = 1", " IS NULL", " OR b > 2"))
    return f"{opened * times}a = 1{f'){tail}' * times}"


def listed(random: Random) -> str:
    return f"a IN ({', '.join(repr(str(random.random())) for _ in range(random.choice((1, 700, 100_000))))})"


def damaged(random: Random) -> str:
    sound = b"a > 5 AND (b IN ('x', 'y') OR NOT c BETWEEN 1 AND 2.5) AND d IS NOT NULL -- all\n OR e STARTSWITH 'f'"
    return mutate(random, sound).decode("utf-8", "replace")


def letters(random: Random) -> str:
    return "".join(chr(random.randrange(0xD800)) for _ in range(random.randrange(200)))


def test_any_expression_compiles_or_is_refused_and_decides_soon() -> None:
    def case(random: Random) -> None:
        compiled = compile_sql92(expression(random))
        for _ in range(10):
            assert compiled.matches({name: random.choice(VALUES) for name in "ab"}) in (True, False)

    run_cases(1_000, case, named=IllegalExpression)


def test_a_walk_selects_what_any_expression_selects() -> None:
    def case(random: Random) -> None:
        sql = compile_sql92(expression(random))
        every = [{name: random.choice(VALUES) for name in "abc"} for _ in range(10)]
        texts = [format_properties(each).encode() for each in every]
        found = selected(texts, PropertyTest(sql.names, sql.test, sql.program))
        assert found == [sql.matches(parse_properties(each.decode())) for each in texts]

    run_cases(1_000, case, named=IllegalExpression)


def test_an_expression_cannot_reach_python() -> None:
    for text in ("__class__ = 'x'", "equal = 1", "p0 = 1 AND t0 = 2", "a = '\\'", "a = '{p0}' OR b = '\\n'"):
        assert not compile_sql92(text).matches({"a": "b"})
    with pytest.raises(IllegalExpression, match="'\\.' means nothing here"):
        compile_sql92("a.__class__ = 1")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    with started_broker(tmp_path_factory.mktemp("broker")) as broker:
        yield broker


def check(text: str) -> Command:
    wanted = SubscriptionData(TOPIC, text, expression_type="SQL92", sub_version=1)
    return Command.request(CheckClientConfigRequest(), bodies.encode(CheckClientRequestBody("c", "g", wanted)))


def heartbeat(text: str) -> Command:
    wanted = SubscriptionData(TOPIC, text, expression_type="SQL92", sub_version=next(_versions))
    consumer = ConsumerData("sql", ConsumeType.CONSUME_PASSIVELY, MessageModel.CLUSTERING, None, [wanted])
    return Command.request(HeartBeatRequest(), bodies.encode(HeartbeatData("client-a", [], [consumer])))


def pull(text: str) -> Command:
    header = PullMessageRequest(
        "sql", TOPIC, 0, 0, 32, PULL_SUBSCRIPTION, subscription=text[:HEADER], expression_type="SQL92", sub_version=1
    )
    return Command.request(header)


def pull_of_the_heartbeat(_: str) -> Command:
    return Command.request(PullMessageRequest("sql", TOPIC, 0, 0, 32, 0, expression_type="SQL92"))


def pop(text: str) -> Command:
    header = PopMessageRequest("sql", TOPIC, -1, 32, 1_000, 0, 0, 0, exp_type="SQL92", exp=text[:HEADER])
    return Command.request(header)


ASKED: Final[tuple[Callable[[str], Command], ...]] = (check, heartbeat, pull, pull_of_the_heartbeat, pop)


async def prepared(running: RunningBroker) -> None:
    """Store messages whose properties are long, or no numbers."""
    async with running.session() as session:
        await create_topic(session, TOPIC, queues=1)
        async with Producer(session) as producer:
            for number in range(200):
                properties = {name: VALUES[(number + step) % len(VALUES)] for step, name in enumerate("abc")}
                await producer.send(Message.create(TOPIC, b"x", properties={k: v for k, v in properties.items() if v}))


async def test_a_broker_answers_every_expression_and_lives_on(running: RunningBroker) -> None:
    await prepared(running)
    warm = resident_bytes(running)
    problems = []
    for begin in range(0, REQUESTS, TOGETHER):
        seeded = Random(BASE_SEED * 1_000_003 + begin)
        made = [seeded.choice(ASKED)(expression(seeded)) for _ in range(TOGETHER)]
        if problem := await answers_to(running.address, made):
            problems.append(f"from {begin}: {problem[:500]}")
    assert not problems, "\n".join(problems)
    assert tracebacks(running) == []
    assert resident_bytes(running) - warm < MOST_GROWTH
    await serves_well(running, "well-after")


async def test_an_expression_of_a_megabyte_is_refused(running: RunningBroker) -> None:
    huge = "a = 1 OR " * (1 << 17) + "b = 2"
    assert await answers_to(running.address, [check(huge), heartbeat(huge), pull("a = 1")]) == ""
    assert tracebacks(running) == []


def test_the_limits_are_the_documented_ones() -> None:
    readme = Path(__file__).parents[2] / "broker_core/sql92/README.md"
    assert f"{MAX_CHARACTERS:,} characters" in readme.read_text()
