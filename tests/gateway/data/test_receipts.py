"""Requirements of `gateway.data.receipts`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.data.receipts import Receipt, Receipts, derive_key
from gateway.problems import ProblemError

RECEIPT = Receipt("local", "billing", "orders", "the lease", 1_777_622_400_123, 2, "AC11")
RECEIPTS = Receipts(derive_key("secret"))


def opened(text: str, receipts: Receipts = RECEIPTS) -> Receipt:
    return receipts.open(text, cluster="local", group="billing", topic="orders")


def test_what_was_sealed_is_opened_by_any_process_with_the_same_secret() -> None:
    text = RECEIPTS.seal(RECEIPT)
    assert text.startswith("v2.")
    assert opened(text, Receipts(derive_key("secret"))) == RECEIPT


def test_a_receipt_of_another_installation_is_refused() -> None:
    with pytest.raises(ProblemError) as caught:
        opened(Receipts(derive_key("other")).seal(RECEIPT))
    assert caught.value.kind.code == "INVALID_RECEIPT"


@pytest.mark.parametrize(
    ("cluster", "group", "topic"),
    [("other", "billing", "orders"), ("local", "ship", "orders"), ("local", "billing", "pay")],
)
def test_a_receipt_counts_for_its_own_cluster_group_and_topic_alone(cluster: str, group: str, topic: str) -> None:
    with pytest.raises(ProblemError) as caught:
        RECEIPTS.open(RECEIPTS.seal(RECEIPT), cluster=cluster, group=group, topic=topic)
    assert "'billing'" in caught.value.detail


@given(st.integers(min_value=3), st.characters())
def test_a_receipt_with_one_character_changed_is_refused(place: int, character: str) -> None:
    text = RECEIPTS.seal(RECEIPT)
    place = 3 + place % (len(text) - 3)
    changed = text[:place] + character + text[place + 1 :]
    if changed != text:
        with pytest.raises(ProblemError):
            opened(changed)


@pytest.mark.parametrize("more", ["=", "==", "\n", " ", "\r\n"])
@pytest.mark.parametrize("place", [3, 10, -1, None])
def test_a_lease_has_one_text_alone(more: str, place: int | None) -> None:
    text = RECEIPTS.seal(RECEIPT)
    text = text + more if place is None else text[:place] + more + text[place:]

    with pytest.raises(ProblemError) as caught:
        opened(text)
    assert caught.value.kind.code == "INVALID_RECEIPT"


@given(st.text() | st.text().map(lambda text: "v2." + text))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(ProblemError) as caught:
        opened(text)
    assert caught.value.kind.status == 422
