"""The compiled walk along a consume queue selects what its Python twin selects, whatever the records hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol import record
from broker_core.protocol.string_hash import tags_code
from broker_core.sql92 import IllegalExpression, Sql92, compile_sql92
from broker_core.store import fetch
from broker_core.store.fetch import Accept, PropertyTest
from broker_core.store.units import UNIT
from tests.broker_core.native.twins import TEXTS
from tests.broker_core.sql92 import generated
from tests.support.walks import BEGIN, FIRST, QUEUE_ID, TOPIC, File, Log, Queue

TAGS: Final = ("TagA", "order-created")
IPV4, IPV6 = bytes(8), bytes(20)

PROPERTIES: Final = st.one_of(
    generated.properties.map(lambda pairs: "\x02".join(f"{name}\x01{value}" for name, value in pairs.items())),
    st.lists(st.sampled_from(("a", "b", "c", "Price", "5", "eu", "\x01", "\x02", "\x01", "\x02")), max_size=12).map(
        "".join
    ),
    TEXTS,
)


class Stored(NamedTuple):
    """A message of the queue; `change` is made to its record: a byte and its new value."""

    text: str
    body: bytes
    tag: str
    host: bytes
    change: tuple[int, int] | None
    is_extended: bool = False


STORED: Final = st.builds(
    Stored,
    PROPERTIES,
    st.binary(max_size=20),
    st.sampled_from(TAGS),
    st.sampled_from((IPV4, IPV4, IPV4, IPV6)),
    st.one_of(st.none(), st.none(), st.tuples(st.integers(0, 200), st.integers(0, 255))),
    st.booleans(),
)


@dataclass
class Asked:
    """A test that tells what it was asked."""

    of: PropertyTest
    values: set[tuple[str | None, ...]] = field(default_factory=set)

    def __call__(self, *values: str | None) -> bool:
        self.values.add(values)
        return self.of.test(*values)


def stored(messages: list[Stored]) -> tuple[File, memoryview]:
    """Return a segment with these messages, and the units of their queue."""
    segment, units = bytearray(), bytearray()
    for number, each in enumerate(messages):
        origin = record.MessageOrigin(1, each.host, 2, IPV4)
        text, place = each.text.encode(), BEGIN + len(segment)
        size = record.size_of(TOPIC, each.body, text, origin)
        data = bytearray(record.encode(TOPIC, each.body, text, origin, size, QUEUE_ID, FIRST + number, place))
        if each.change is not None:
            data[each.change[0] % size] = each.change[1]
        segment += data
        units += UNIT.pack(place, size, number - (1 << 63) if each.is_extended else tags_code(each.tag))
    return File(memoryview(bytes(segment))), memoryview(bytes(units))


def walked(messages: list[Stored], accept: Accept, many: int, room: int) -> tuple[Any, ...]:
    """Return everything that a walk finds, and what its test was asked."""
    file, units = stored(messages)
    asked = None if accept.properties is None else Asked(accept.properties)
    properties = None if asked is None else PropertyTest(asked.of.names, asked, asked.of.program)
    walk = fetch._Walk(Log(file), Queue(), FIRST, many, room, accept._replace(properties=properties))  # type: ignore[arg-type]
    walk.take_for(units, 60.0)
    found = [bytes(each) for each in walk.records]
    return walk.walked, walk.status, found, list(map(str, walk.damaged)), walk._room, asked and asked.values


def sql_of(expression: str) -> Sql92:
    try:
        return compile_sql92(expression)
    except IllegalExpression:
        return compile_sql92("a IS NOT NULL OR b > 1")


@given(
    st.lists(STORED, max_size=20),
    st.one_of(st.none(), generated.expressions.map(sql_of)),
    st.one_of(st.none(), st.just(tags_code(TAGS[0]).__eq__)),
    st.integers(1, 20),
    st.integers(0, 3000),
)
def test_walk(messages: list[Stored], sql: Sql92 | None, tag: Any, many: int, room: int) -> None:
    accept = Accept(tag, None if sql is None else PropertyTest(sql.names, sql.test))
    with mock.patch.object(fetch, "native", None):
        plain = walked(messages, accept, many, room)
    assert walked(messages, accept, many, room) == plain
    if sql is not None:
        decided = accept._replace(properties=PropertyTest(sql.names, sql.test, sql.program))
        assert walked(messages, decided, many, room)[:-1] == plain[:-1]


@given(st.lists(STORED, min_size=1, max_size=5))
def test_walk_with_more_names_than_the_compiled_one_takes(messages: list[Stored]) -> None:
    names = (*(f"n{number}" for number in range(16)), "a")
    accept = Accept(None, PropertyTest(names, lambda *values: values[-1] is not None))
    with mock.patch.object(fetch, "native", None):
        plain = walked(messages, accept, 9, 1 << 20)
    assert walked(messages, accept, 9, 1 << 20) == plain


@given(
    st.lists(STORED, min_size=1, max_size=20),
    st.integers(1, 20),
    st.integers(0, 3000),
    st.sampled_from((0, 150, 1 << 20)),
)
def test_joined_records_are_those_of_the_views(messages: list[Stored], many: int, room: int, below: int) -> None:
    """The first records come in one piece if they are small; what follows an unusual one are views."""
    file, units = stored(messages)

    def take(joined_below: int) -> fetch._Walk:
        walk = fetch._Walk(Log(file), Queue(), FIRST, many, room, Accept())  # type: ignore[arg-type]
        walk.take(units, joined_below)
        return walk

    views, joined = take(0), take(below)
    assert joined.joined + b"".join(joined.records) == b"".join(views.records)
    assert (joined.walked, joined.messages, joined.status) == (views.walked, len(views.records), views.status)
    assert (list(map(str, joined.damaged)), joined._room) == (list(map(str, views.damaged)), views._room)
    if joined.joined:
        assert len(joined.joined) / (joined.messages - len(joined.records)) < below
