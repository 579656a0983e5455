"""The values of differing messages, read again by position."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from broker_core.spark.differences import Sample, SamplePlace
from broker_core.spark.options import SourceOptions
from broker_core.spark.samples import add_values, shown
from tests.support.stores import segment
from tests.support.topics import order, write_topic


@pytest.fixture
def options(tmp_path: Path) -> dict[str, SourceOptions]:
    """Two orders of two topics."""
    write_topic(tmp_path, [order(1, tag="A"), order(2, topic="copy")], queues=1)
    return {
        side: SourceOptions(topics=(topic,), stores=(tmp_path,), brokers=("broker-a",))
        for side, topic in (("left", "orders"), ("right", "copy"))
    }


def sample(*fields: str) -> Sample:
    place = SamplePlace("broker-a", 0, 0)
    return Sample(
        kind="different", key="k", left=place, right=place, left_count=1, right_count=1, fields=list(fields), damage=""
    )


def test_differing_fields_have_the_values_of_both_sides(options: dict[str, SourceOptions]) -> None:
    samples = [sample("body", "tag", "keys"), sample()]
    add_values(samples, options)
    assert samples[0].values == {
        "body": {"left": '{"n":1}', "right": '{"n":2}'},
        "tag": {"left": "A", "right": None},
        "keys": {"left": "k1\nall", "right": "k2\nall"},
    }
    assert samples[1].values is UNSET


def test_a_message_that_is_gone_has_no_values(options: dict[str, SourceOptions], tmp_path: Path) -> None:
    segment(tmp_path).write_bytes(b"")
    samples = [sample("body")]
    add_values(samples, options)
    assert samples[0].values == {"body": {"left": None, "right": None}}


def test_a_message_without_a_partner_has_the_values_of_its_side(options: dict[str, SourceOptions]) -> None:
    alone = sample("body")
    alone.right = None
    add_values([alone], options)
    assert alone.values == {"body": {"left": '{"n":1}', "right": None}}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b"text", "text"),
        (b"\xff\x00", "ff 00"),
        ([("a", "1"), ("b", "2")], "a=1\nb=2"),
        (None, None),
        (b"x" * 3000, "x" * 2000 + "… (3,000 characters)"),
    ],
)
def test_values_are_text_of_bounded_length(value: Any, text: str | None) -> None:
    assert shown(value) == text
