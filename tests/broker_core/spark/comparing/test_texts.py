"""Values as text."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.spark.comparing.texts import shown


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
