"""Requirements of `gateway.transaction_ids`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.problems import ProblemError
from gateway.transaction_ids import HalfPlace, TransactionIds, derive_key

IDS = TransactionIds(derive_key("secret"))
PLACE = HalfPlace("local", "orders", "payments", "broker-a", 42, 2**40, "AC1A0001")


def test_what_is_sealed_is_opened_by_every_process_with_the_secret() -> None:
    assert TransactionIds(derive_key("secret")).open(IDS.seal(PLACE), cluster="local") == PLACE


def test_another_secret_makes_other_ids() -> None:
    with pytest.raises(ProblemError, match="signature"):
        IDS.open(TransactionIds(derive_key("other")).seal(PLACE), cluster="local")


@given(st.integers(min_value=0), st.characters(codec="ascii"))
def test_no_character_can_be_changed(place: int, character: str) -> None:
    text = IDS.seal(PLACE)
    at = place % len(text)
    changed = text[:at] + character + text[at + 1 :]
    if changed == text:
        assert IDS.open(changed, cluster="local") == PLACE
        return
    with pytest.raises(ProblemError) as caught:
        IDS.open(changed, cluster="local")
    assert caught.value.kind.status == 404


@given(st.text())
def test_any_other_text_is_none(text: str) -> None:
    with pytest.raises(ProblemError):
        IDS.open(text, cluster="local")
    with pytest.raises(ProblemError):
        IDS.open("t1." + text, cluster="local")
