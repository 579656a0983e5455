"""Requirements of `gateway.data.receipts`."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.client.consumer.leases import LeasePortion
from broker_core.native import native
from gateway.data.receipts import Portion, Receipt, Receipts, derive_key, text_of
from gateway.problems import ProblemError

LEASED = LeasePortion("billing", "broker a", "orders", 3, 40, 1_777_622_370_000, 30_000, 0)
PORTION = Portion("local", "orders", 1_777_622_400_123, LEASED)
RECEIPT = Receipt(PORTION, text_of(PORTION), 42, 2, "AC11")
RECEIPTS = Receipts(derive_key("secret"))


def opened(text: str, receipts: Receipts = RECEIPTS) -> Receipt:
    return receipts.open(text, cluster="local", group="billing", topic="orders")


def test_what_was_sealed_is_opened_by_any_process_with_the_same_secret() -> None:
    text = RECEIPTS.seal(RECEIPT)
    assert text.startswith("v3.")
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


@given(st.text() | st.text().map(lambda text: "v3." + text))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(ProblemError) as caught:
        opened(text)
    assert caught.value.kind.status == 422


MANY = [replace(RECEIPT, queue_offset=offset, message_id="AC11蛇" * (offset % 3)) for offset in (40, 1 << 40, 41)]
OTHER = Portion("local", "orders", 1_777_622_400_124, LEASED._replace(queue_id=0))
OTHERS = [replace(RECEIPT, portion=OTHER, portion_text=text_of(OTHER), queue_offset=offset) for offset in (7, 0)]


@pytest.mark.skipif(native is None, reason="one by one without the compiled functions")
def test_many_are_opened_together_as_they_are_one_by_one() -> None:
    receipts = [MANY[0], OTHERS[0], *MANY[1:], OTHERS[1]]
    texts = [RECEIPTS.seal(each) for each in receipts]

    found = RECEIPTS.open_all(texts, cluster="local", group="billing", topic="orders")

    assert found is not None
    assert [(each.portion, each.offsets, each.places) for each in found] == [
        (PORTION, [40, 1 << 40, 41], [0, 2, 3]),
        (OTHER, [7, 0], [1, 4]),
    ]
    assert [opened(text) for text in texts] == receipts


@pytest.mark.parametrize(
    "odd", ["", "v3.", "v3.a.b", "é", "v3." + "a" * 5_000, RECEIPTS.seal(MANY[0])[:-1], RECEIPTS.seal(MANY[0]) + "A"]
)
def test_many_with_one_that_is_no_receipt_are_not_opened(odd: str) -> None:
    texts = [RECEIPTS.seal(MANY[0]), odd]
    assert RECEIPTS.open_all(texts, cluster="local", group="billing", topic="orders") is None


def test_many_of_another_group_are_not_opened() -> None:
    texts = [RECEIPTS.seal(each) for each in MANY]
    assert RECEIPTS.open_all(texts, cluster="local", group="shipping", topic="orders") is None


@given(st.binary(min_size=1, max_size=64), st.text(max_size=90), st.integers(0, 2**63 - 1))
def test_the_compiled_signature_is_that_of_hashlib(key: bytes, message_id: str, offset: int) -> None:
    """Of any key, and of texts that take one block, exactly two, or more."""
    receipts = Receipts(key)
    text = receipts.seal(replace(RECEIPT, queue_offset=offset, message_id=message_id))
    found = receipts.open_all([text], cluster="local", group="billing", topic="orders")
    assert native is None or (found is not None and found[0].offsets == [offset])
