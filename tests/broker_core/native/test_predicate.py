"""The instructions of an expression decide in compiled code what its Python function decides, or ask it."""

from __future__ import annotations

import math
from random import Random
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol.properties import parse_properties
from broker_core.sql92 import IllegalExpression, Sql92, compile_sql92, program
from broker_core.store.fetch import PropertyTest
from tests.broker_core.native.twins import compiled
from tests.broker_core.sql92 import generated
from tests.support.walks import selected

assert compiled  # without it this would compare Python with itself

NUMBERS: Final = st.from_regex(
    r"\A[ \n]?[+-]?[0-9]{0,22}\.?[0-9]{0,22}([eE][+-]?[0-9]{0,3})?[fFdDlL ]?\Z", alphabet=st.characters(codec="ascii")
)
WHOLE: Final = st.builds(
    lambda edge, step, zeros: f"{'-' * (edge + step < 0)}{'0' * zeros}{abs(edge + step)}",
    st.sampled_from((0, 5, 1 << 31, -(1 << 31), 1 << 63, -(1 << 63), 1 << 64, 10**15, 10**19)),
    st.integers(-2, 2),
    st.sampled_from((0, 0, 0, 1, 30, 60, 80)),
)
VALUES: Final = st.one_of(
    st.sampled_from(generated.VALUES).map(str.encode),
    NUMBERS.map(str.encode),
    WHOLE.map(str.encode),
    st.sampled_from((b"\xff", b"\xfe", b"\xe8\x9b\x87", b"\xe8\x9b", b"eu\xff", b"\xffeu", b"5\xff", b"\xef\xbf\xbd")),
    st.binary(max_size=5),
)
TEXTS: Final = st.lists(st.tuples(st.sampled_from(generated.NAMES), VALUES), max_size=5).map(
    lambda pairs: b"\x02".join(name.encode() + b"\x01" + value for name, value in pairs)
)
ORDERS: Final = st.sampled_from(("=", "<>", "<", "<=", ">", ">="))
OTHERS: Final = st.one_of(
    st.builds("{} {} {}".format, st.sampled_from("ab"), ORDERS, st.sampled_from("bc")),
    st.builds("{} {} {}".format, generated.numbers, ORDERS, st.sampled_from("ab")),
    st.builds("a = '{}'".format, st.sampled_from(("蛇", "\ufffd", "\ud800", "eu"))),
    st.builds(
        "a {} '{}'".format, st.sampled_from(("CONTAINS", "STARTSWITH", "ENDSWITH")), st.sampled_from("蛇\ufffde5u")
    ),
    st.builds("a {}IN ('蛇', '5', 'eu')".format, st.sampled_from(("", "NOT "))),
)
EXPRESSIONS: Final = st.one_of(
    generated.expressions, OTHERS, st.builds("{} OR {} AND {}".format, OTHERS, generated.expressions, OTHERS)
)
# Only true selects: these tell false, unknown and failed from each other.
FORMS: Final = ("{}", "NOT ({})", "({}) IS NULL", "({}) IS NOT NULL OR a = 5.5")


def expected(sql: Sql92, text: bytes) -> bool:
    return sql.matches(parse_properties(text.decode("utf-8", "replace")))


def check(sql: Sql92, texts: list[bytes]) -> None:
    wanted = [expected(sql, each) for each in texts]
    assert selected(texts, PropertyTest(sql.names, sql.test, sql.program)) == wanted


@given(EXPRESSIONS, st.lists(TEXTS, min_size=1, max_size=12))
def test_it_decides_as_python_does(text: str, texts: list[bytes]) -> None:
    for form in FORMS:
        try:
            sql = compile_sql92(form.format(text))
        except IllegalExpression:
            continue
        check(sql, texts)


@given(
    st.floats(allow_nan=False, allow_infinity=False).filter(bool).map(abs),
    st.integers(-2, 2),
    st.sampled_from(("{!r}", "{:.25g}", "{:.17e}", "{:f}", " {!r}d", "-{!r}")),
    ORDERS,
)
def test_doubles_beside_each_other(number: float, steps: int, form: str, order: str) -> None:
    near = number
    for _ in range(abs(steps)):
        near = math.nextafter(near, math.copysign(math.inf, steps))
    check(compile_sql92(f"a {order} {number!r} OR b < a"), [b"a\x01" + form.format(near).encode() + b"\x02b\x01-0"])


@pytest.mark.parametrize(
    ("text", "properties"),
    [
        ("amount > 89 AND region IN ('eu', 'us')", b"amount\x0190\x02region\x01us"),
        ("amount BETWEEN -5 AND 3000000000", b"amount\x01+2999999999"),
        ("amount NOT BETWEEN 5.5 AND 1E3", b"amount\x01 -1.25e-3d "),
        ("5 < amount AND 5.5 <> amount AND amount = -7", b"amount\x01-7"),
        ("amount > region AND amount = amount AND NOT (region = amount)", b"amount\x01-0.5\x02region\x01-1"),
        ("vip = TRUE AND (note IS NULL OR name CONTAINS '\u86c7')", "vip\x01tRUE\x02name\x01a\u86c7".encode()),
        ("name STARTSWITH 'it''s' OR NOT name OR (a = 1 AND FALSE) IS NULL", b"name\x01it"),
        ("NOT (name ENDSWITH 'x' OR name NOT IN ('y') OR amount > 5)", b"name\x01x\x02amount\x01x"),
        (" OR ".join(f"a = {number}" for number in range(150)), b"a\x01149"),
        (" AND ".join(f"(a <> {number} OR b IS NULL" for number in range(30)) + ")" * 30, b"a\x017"),
    ],
)
def test_what_is_usual_needs_no_python(text: str, properties: bytes) -> None:
    def refuse(*_: object) -> bool:
        raise AssertionError("Python was asked")

    sql = compile_sql92(text)
    names = [name.encode() for name in sql.names]
    texts = [properties, b"", *(name + b"\x01" for name in names), *(name + b"\x015" for name in names)]
    assert selected(texts, PropertyTest(sql.names, refuse, sql.program)) == [expected(sql, each) for each in texts]


@pytest.mark.parametrize(("bits", "literal"), [(31, "0"), (63, "3000000000")])
@pytest.mark.parametrize("step", [-1, 0, 1])
@pytest.mark.parametrize("zeros", ["", "0" * 30])
def test_the_ends_of_what_an_integer_holds(bits: int, literal: str, step: int, zeros: str) -> None:
    for order in ("<", ">"):
        texts = [f"a\x01{sign}{zeros}{(1 << bits) + step}".encode() for sign in ("-", "+", "")]
        check(compile_sql92(f"a {order} {literal}"), texts)


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "0x1p3", "\u0665", "1" * 64, "x", "1e", "5ff"])
def test_a_number_that_is_not_usual_is_left_to_python(value: str) -> None:
    asked: list[str] = []

    def test(*values: str) -> bool:
        asked.extend(values)
        return True

    sql = compile_sql92("a > 5.0")
    assert selected([b"a\x01" + value.encode()], PropertyTest(sql.names, test, sql.program)) == [True]
    assert asked == [value]


@pytest.mark.parametrize(
    "text",
    [
        "(a = 1) = (b = 1)",
        "-a = 5",
        "a = '\ufffd'",
        "a CONTAINS '\ud800'",
        f"a IN ({', '.join(map(repr, map(str, range(65))))})",
        " OR ".join(f"a = {number}" for number in range(300)),
        "a = 1 AND TRUE = b",
    ],
)
def test_an_expression_that_is_not_usual_is_left_to_python(text: str) -> None:
    sql = compile_sql92(text)
    assert sql.program == b""
    check(sql, [b"a\x011", b"a\x01\xef\xbf\xbd\x02b\x011", b""])


def test_bytes_that_are_no_text_are_equal_to_each_other() -> None:
    check(compile_sql92("a = b"), [b"a\x01\xff\x02b\x01\xfe", b"a\x01x\x02b\x01\xfe", b"a\x01\xff\x02b\x01\xff"])


def test_properties_of_the_walk_may_have_any_name() -> None:
    for name in ("", "a\x01b", "\x01"):
        test = PropertyTest((name,), lambda value: value is None, b"")
        assert selected([b"a\x01b\x01c", b"\x01x"], test) == [True, True]


def test_damaged_instructions_do_no_harm() -> None:
    """Whatever they are, they end, touch nothing else, and give an answer (test_build.py has the sanitizers)."""
    random = Random(3)
    texts = [b"a\x015\x02b\x01eu\x02c\x01-5.5", b"", b"a\x01\xff\x02b\x01" + b"9" * 70]
    sound = [
        compile_sql92(text).program
        for text in (
            "a = 5 AND (b IN ('x', 'eu') OR c NOT BETWEEN 1.5 AND 2) OR a CONTAINS '5' OR b ENDSWITH 'u'",
            "a = b OR b > c OR (a = 1) IS NULL OR c = TRUE OR b IS NOT NULL OR 3000000000 > a OR b",
        )
    ]
    assert all(sound)
    for _ in range(3_000):
        damaged = bytearray(random.choice(sound))
        for _ in range(random.choice((1, 1, 2, 5, 50))):
            damaged[random.randrange(len(damaged))] = random.choice(
                (0, 1, 2, 3, 20, 127, 128, 255, random.randrange(256))
            )
        cut = bytes(
            damaged[random.choice((0, 0, 1, 20)) : random.choice((len(damaged), random.randrange(len(damaged))))]
        )
        for given_program in (cut, random.randbytes(random.randrange(90)), cut * 9):
            answers = selected(texts, PropertyTest(("a", "b", "c"), lambda *_: True, given_program))
            assert set(answers) <= {True, False}


def test_a_stack_that_is_full_is_left_to_python() -> None:
    opened = program.chain([program.constant(value=True)], decides=False) or b""
    push = opened[:20]
    for times, is_selected in ((199, True), (200, False), (5_000, False)):
        test = PropertyTest(("a",), lambda _: False, push * times + opened)
        assert selected([b"a\x015"], test) == [is_selected]
