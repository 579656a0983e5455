"""The names of releases."""

from __future__ import annotations

import pytest

from broker_core.protocol.codes import MAX_RECONSUME_VERSION, STRICT_JSON_VERSION, VERSION, VERSION_DESC
from broker_core.protocol.versions import version_name


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (VERSION, VERSION_DESC),
        (STRICT_JSON_VERSION, "V4_9_4"),
        (MAX_RECONSUME_VERSION, "V3_4_9"),
        (213, "V4_0_0"),
        (212, "V4_0_0_SNAPSHOT"),
        (475, "V5_3_1"),
        (611, "V5_9_9"),
        (47, "V3_1_0"),
    ],
)
def test_a_number_is_the_release_it_stands_for(number: int, name: str) -> None:
    assert version_name(number) == name


@pytest.mark.parametrize("number", [-1, 0, 45])
def test_releases_that_followed_no_rule_are_said_to_be_old(number: int) -> None:
    assert version_name(number) == f"before V3_1_0 ({number})"


def test_a_number_of_the_future_is_shown_as_one() -> None:
    assert version_name(612) == "after V5_9_9 (612)"
