"""Requirements of `broker_core.protocol.topic_attributes`."""

from __future__ import annotations

import pytest

from broker_core.protocol.topic_attributes import changed, declare, message_type_of


def test_a_declared_type_is_read_back() -> None:
    assert message_type_of(changed(None, declare("FIFO"))) == "FIFO"


def test_nothing_declared_is_nothing_known() -> None:
    assert [message_type_of(each) for each in (None, {}, {"message.type": "LITE"})] == [None, None, None]


def test_a_change_without_attributes_keeps_them() -> None:
    assert changed({"message.type": "DELAY"}, None) == {"message.type": "DELAY"}
    assert changed(None, "") is None


def test_an_attribute_is_taken_away() -> None:
    assert changed({"message.type": "DELAY", "queue.type": "x"}, "-message.type") == {"queue.type": "x"}


@pytest.mark.parametrize(
    "text",
    [
        "message.type=FIFO",
        "+message.type",
        "-message.type=FIFO",
        "+message.type=fifo",
        "+message.type=",
        "+queue.type=BatchCQ",
        "+message.type=FIFO,-message.type",
        ",",
    ],
)
def test_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"attribute|message\.type"):
        changed(None, text)
