"""Comparing two sides key by key, on a few rows."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.spark.comparing import fingerprints
from broker_core.spark.comparing.comparison import Comparison, Field
from tests.support.comparing import START_MS, Compared, compare, message, messages


def fields(*names: str) -> tuple[Field, ...]:
    return tuple(Field(name) for name in names)


def test_each_key_is_in_one_class() -> None:
    left = messages([
        ("same", "x"), ("only-left", "x"), ("other", "x"), ("twice-left", "x"), ("twice-left", "x"),
        ("twice-right", "x"), ("twice", "x"), ("twice", "x"), ("many", "x"), ("many", "x"),
    ])  # fmt: skip
    right = messages([
        ("same", "x"), ("only-right", "x"), ("other", "y"), ("twice-left", "x"), ("twice-right", "x"),
        ("twice-right", "x"), ("twice", "x"), ("twice", "x"), ("many", "x"), ("many", "x"), ("many", "x"),
    ])  # fmt: skip
    found = compare(left, right)
    assert found.classes == {
        "only-left": "missing_right",
        "only-right": "missing_left",
        "other": "different",
        "twice-left": "duplicate_left",
        "twice-right": "duplicate_right",
        "many": "duplicate",
    }
    assert found.matched == 2


def test_all_messages_of_a_key_are_compared_and_not_the_last_alone() -> None:
    left = messages([("k", "old"), ("k", "new"), ("j", "a"), ("j", "b"), ("i", "a"), ("i", "b")])
    right = messages([("k", "new"), ("k", "old"), ("j", "c"), ("j", "b"), ("i", "b")])
    found = compare(left, right)
    assert (found.classes, found.matched) == ({"j": "different", "i": "different"}, 1)


def test_the_order_of_the_messages_of_a_key_may_count() -> None:
    left = messages([("k", "old"), ("k", "new"), ("j", "a"), ("j", "b"), ("j", "a")])
    right = messages([("k", "new"), ("k", "old"), ("j", "a"), ("j", "b"), ("j", "a")])
    found = compare(left, right, Comparison(ordered=True))
    assert (found.classes, found.matched) == ({"k": "reordered"}, 1)
    assert compare(left, right).classes == {}


def test_repetitions_may_be_no_fault() -> None:
    left = messages([("k", "a"), ("k", "a"), ("j", "a"), ("j", "b")])
    right = messages([("k", "a"), ("j", "b"), ("j", "a"), ("j", "a")])
    assert compare(left, right).classes == {"k": "duplicate_left", "j": "duplicate"}
    assert compare(left, right, Comparison(multiset=False)).classes == {}
    assert compare(left, right[:2], Comparison(multiset=False)).classes == {"j": "different"}


def test_positions_and_fields_are_reported() -> None:
    found = compare(messages([("a", "1"), ("b", "1"), ("b", "2")]), messages([("b", "1"), ("b", "3")]))
    rows = {row["key"]: row for row in found.rows}
    assert (rows["b"]["left_count"], rows["b"]["left_queue_offset"], rows["b"]["right_queue_offset"]) == (2, 2, 1)
    assert (rows["b"]["left_broker"], rows["b"]["fields"]) == ("broker-a", ["body"])
    assert (rows["b"]["left_values"], rows["b"]["right_values"]) == ([("body", "2")], [("body", "3")])
    assert (rows["a"]["right_count"], rows["a"]["right_queue_id"], rows["a"]["fields"]) == (0, None, [])


def test_a_message_without_a_partner_is_not_shown_next_to_one_that_both_sides_have() -> None:
    (row,) = compare(messages([("k", "a"), ("k", "b"), ("k", "c")]), messages([("k", "a"), ("k", "c")])).rows
    assert (row["class"], row["left_count"], row["right_count"]) == ("different", 3, 2)
    assert (row["left_queue_offset"], row["right_queue_offset"], row["fields"]) == (1, None, ["body"])
    assert (row["right_broker"], row["right_store_timestamp"], row["right_values"]) == (None, None, [])


@pytest.mark.parametrize(("tag", "expected"), [("t", ["body"]), ("u", ["body", "tag"])])
def test_of_a_message_without_a_partner_only_those_fields_differ_that_no_other_has(
    tag: str, expected: list[str]
) -> None:
    left = [message(0, "k", "a", tag="t"), message(1, "k", "b", tag=tag)]
    (row,) = compare(left, [message(0, "k", "a", tag="t")], Comparison(fields=fields("body", "tag"))).rows
    assert (row["class"], row["fields"]) == ("different", expected)


@pytest.mark.parametrize(
    ("field", "left", "right"),
    [
        ("tag", {"tag": "A"}, {"tag": "B"}),
        ("tag", {"tag": None}, {"tag": "B"}),
        ("keys", {"keys": ["k", "j"]}, {"keys": ["k", "i"]}),
        ("properties", {"properties": [("color", "red")]}, {"properties": [("color", "blue")]}),
        ("properties", {"properties": []}, {"properties": [("color", "blue")]}),
    ],
)
def test_what_is_compared_is_chosen(field: str, left: dict[str, Any], right: dict[str, Any]) -> None:
    sides = (messages([("k", "1")], **left), messages([("k", "1")], **right))
    by_body, by_field = (Comparison("unique_id", fields(*names)) for names in (("body",), ("body", field)))
    assert compare(*sides, by_body).matched == 1
    (row,) = compare(*sides, by_field).rows
    assert (row["class"], row["fields"]) == ("different", [field])


def test_what_is_different_in_every_copy_is_not_reported() -> None:
    own = [("color", "red"), ("UNIQ_KEY", "1"), ("GANTRY_JOB", "j"), ("TRANSACTION_X", "1"), ("KEYS", "k")]
    sides = (messages([("k", "1")], properties=own), messages([("k", "1")], properties=[("color", "red")]))
    assert compare(*sides, Comparison(fields=fields("properties", "keys"))).matched == 1


def test_every_key_of_a_message_is_looked_at() -> None:
    found = compare(messages([("a b b", "1")]), messages([("a c", "1")]))
    assert (found.classes, found.matched) == ({"b": "missing_right", "c": "missing_left"}, 1)


def test_nothing_but_the_keys_need_be_compared() -> None:
    assert compare(messages([("k", "1")]), messages([("k", "2")]), Comparison(fields=())).matched == 1


def test_an_empty_body_is_neither_a_missing_one_nor_another() -> None:
    assert compare(messages([("k", "")]), messages([("k", "x")])).classes == {"k": "different"}
    assert compare(messages([("k", "")]), [message(0, "k", None)]).classes == {"k": "different"}


def test_messages_can_be_paired_by_unique_id_and_by_body() -> None:
    left, right = messages([("k", "1")]), messages([("k", "1"), ("j", "2")])
    assert compare(left, right, Comparison("unique_id")).classes == {"Uj": "missing_left"}
    by_body = compare(left, right, Comparison("body", ()))
    assert list(by_body.classes.values()) == ["missing_left"]
    assert all(len(key or "") == 64 for key in by_body.classes)


def test_copies_are_paired_with_their_originals() -> None:
    originals = messages([("a", "1"), ("b", "2")])
    copies = messages([("a", "1")], properties=[("GANTRY_SRC", "local/broker-a/orders/0/0")])
    found = compare(originals, copies, Comparison("source"), copied_from="local")
    assert (found.classes, found.matched) == ({"local/broker-a/orders/0/1": "missing_right"}, 1)


def test_messages_without_a_key_are_counted_and_damaged_ones_counted_and_listed() -> None:
    reason = "no record begins here"
    nothing = {"keys": None, "unique_id": None, "properties": None, "_time": None, "_error": reason}
    left = [*messages([("k", "1"), (None, "2")]), *(message(number, None, None, **nothing) for number in (2, 3))]
    found = compare(left, messages([("k", "1")]))
    counts = found.found.counts["left"]
    assert (counts.rows, counts.keyless, counts.damaged, found.matched) == (2, 1, 2, 1)
    assert sorted((row["class"], row["left_queue_offset"], row["damage"]) for row in found.rows) == [
        ("damaged_left", 2, reason),
        ("damaged_left", 3, reason),
    ]


END_MS = START_MS + 100_000


def late(left: list[dict[str, Any]], right: list[dict[str, Any]], lateness_ms: int = 10_000) -> Compared:
    how = Comparison(lateness_ms=lateness_ms)
    return compare(left, right, how, range_ms=(START_MS, END_MS))


def test_a_message_near_the_end_of_the_range_that_may_still_come_is_late_and_not_missing() -> None:
    left = [message(10, "old", "x"), message(95, "new", "x")]
    assert late(left, []).classes == {"old": "missing_right", "new": "late"}
    assert late([], left).classes == {"old": "missing_left", "new": "late"}
    assert compare(left, []).classes == {"old": "missing_right", "new": "missing_right"}


def test_a_message_whose_partner_lies_outside_of_the_range_is_late() -> None:
    assert late([message(10, "k", "x")], [message(105, "k", "x")]).classes == {"k": "late"}
    assert late([message(10, "k", "x")], [message(-5, "k", "x", queue_offset=0)]).classes == {"k": "late"}
    assert late([message(10, "k", "x")], [message(105, "k", "y")]).classes == {"k": "missing_right"}


@pytest.mark.parametrize(
    ("at_ms", "kind"),
    [(110_000, "late"), (110_001, "missing_right"), (-10_000, "late"), (-10_001, "missing_right")],
)
def test_a_partner_that_lies_further_outside_than_the_lateness_is_none(at_ms: int, kind: str) -> None:
    partner = message(0, "k", "x", _time=START_MS + at_ms)
    assert late([message(10, "k", "x")], [partner]).classes == {"k": kind}


def test_what_lies_outside_of_the_range_on_both_sides_is_not_judged() -> None:
    found = late([message(10, "k", "x"), message(102, "o", "x")], [message(10, "k", "x"), message(103, "p", "x")])
    assert (found.classes, found.matched) == ({}, 1)
    assert found.found.counts["left"].rows == 1


@pytest.mark.parametrize("kind", ["different", "duplicate_left", "missing_right", "reordered"])
def test_a_key_of_very_many_messages_is_judged_like_any_other(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("hot", str(number % 50)) for number in range(400)]
    left, right = messages(rows), messages(rows)
    match kind:
        case "different":
            right[7]["body"] = b"other"
        case "duplicate_left":
            left, right = messages([("hot", "x")] * 400), messages([("hot", "x")])
        case "missing_right":
            right = []
        case "reordered":
            right[1]["body"], right[2]["body"] = right[2]["body"], right[1]["body"]
    how = Comparison(ordered=kind == "reordered")
    expected = compare(left, right, how).rows
    monkeypatch.setattr(fingerprints, "MANY", 100)
    (row,) = compare(left, right, how).rows
    assert row["class"] == kind
    assert [row] == expected
