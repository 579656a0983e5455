"""Requirements of `broker_core.protocol.topic_attributes`."""

from __future__ import annotations

import pytest

from broker_core.protocol.topic_attributes import changed, declare, message_type_of, text_of


def test_a_declared_type_is_read_back() -> None:
    assert message_type_of(changed(None, declare("FIFO"))) == "FIFO"


def test_nothing_declared_is_nothing_known() -> None:
    assert [message_type_of(each) for each in (None, {}, {"message.type": "LITE"})] == [None, None, None]


def test_a_change_without_attributes_keeps_them() -> None:
    assert changed({"message.type": "DELAY"}, None) == {"message.type": "DELAY"}
    assert changed(None, "") is None


def test_an_attribute_is_taken_away() -> None:
    assert changed({"message.type": "DELAY", "queue.type": "x"}, "-message.type") == {"queue.type": "x"}


def test_what_is_so_anyway_may_be_said() -> None:
    assert changed(None, "+queue.type=SimpleCQ,+cleanup.policy=DELETE") == {
        "queue.type": "SimpleCQ",
        "cleanup.policy": "DELETE",
    }


def test_the_changes_of_a_list_have_the_same_text() -> None:
    assert text_of({"+message.type": "FIFO", "-queue.type": ""}) == "+message.type=FIFO,-queue.type"
    assert text_of({}) is text_of(None) is None


@pytest.mark.parametrize(
    "text",
    [
        "message.type=FIFO",
        "+message.type",
        "-message.type=FIFO",
        "+message.type=fifo",
        "+message.type=",
        "+queue.type=BatchCQ",
        "+cleanup.policy=COMPACTION",
        "+reserve.time=1000",
        "+colour=red",
        "+message.type=FIFO,-message.type",
        ",",
    ],
)
def test_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"attribute|message\.type"):
        changed(None, text)
