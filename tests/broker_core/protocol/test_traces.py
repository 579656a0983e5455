"""The text of message traces: records of Java clients, of several ages, and those that cannot be read."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol.traces import (
    DeliveredTrace,
    EndedTrace,
    HandledTrace,
    KnownTrace,
    RecalledTrace,
    SentTrace,
    UnreadTrace,
    concerns,
    decode_traces,
    encode_trace,
    keys_of,
    outcome_of,
)


def record(*fields: str) -> str:
    return "\x01".join(fields) + "\x02"


# -- what is written can be read

_NUMBERS = st.integers(min_value=0, max_value=2**53)
_WORDS = st.text(alphabet=st.characters(exclude_characters="\x01\x02", exclude_categories=["Cs"]))
_TEXTS = st.none() | _WORDS.filter(lambda text: text not in ("", "null"))
_SENT = st.builds(SentTrace, _NUMBERS, _TEXTS, _TEXTS, _TEXTS, _WORDS, _TEXTS, _TEXTS, _TEXTS, _NUMBERS, _NUMBERS,
                  _NUMBERS, _TEXTS, st.booleans())  # fmt: skip
_DELIVERED = st.builds(DeliveredTrace, _NUMBERS, _TEXTS, _TEXTS, _WORDS, _WORDS, _NUMBERS, _TEXTS)
_HANDLED = st.builds(HandledTrace, _WORDS, _WORDS, _NUMBERS, st.booleans(), _TEXTS, _NUMBERS, _NUMBERS, _TEXTS)
_ENDED = st.builds(EndedTrace, _NUMBERS, _TEXTS, _TEXTS, _TEXTS, _WORDS, _TEXTS, _TEXTS, _TEXTS, _NUMBERS, _TEXTS,
                   st.sampled_from(["COMMIT_MESSAGE", "ROLLBACK_MESSAGE", "UNKNOW"]), st.booleans())  # fmt: skip
_RECALLED = st.builds(RecalledTrace, _NUMBERS, _TEXTS, _TEXTS, _TEXTS, _WORDS, st.booleans())


@given(st.lists(st.one_of(_SENT, _DELIVERED, _HANDLED, _ENDED, _RECALLED)))
def test_records_are_read_as_they_were_written(traces: list[KnownTrace]) -> None:
    assert decode_traces("".join(map(encode_trace, traces))) == traces


@given(st.text() | st.text(alphabet="\x01\x02Pub0truefalsSubBefore" + string.digits))
def test_any_text_can_be_read(text: str) -> None:
    for trace in decode_traces(text):
        assert not isinstance(trace, UnreadTrace) or trace.reason


def test_separators_within_a_text_cannot_make_another_record() -> None:
    trace = RecalledTrace(1, None, "g", "t", "a\x02Recall\x01b", True)

    (read,) = decode_traces(encode_trace(trace))

    assert isinstance(read, RecalledTrace)
    assert read.message_id == "a\ufffdRecall\ufffdb"


# -- recorded from Java clients

ORDER_4 = "FD0000000000000000000000000000023D774E0E2F2A88E9B06F0000"
PAYMENT_4 = "FD0000000000000000000000000000023D774E0E2F2A88E9B1500007"
FIRST_TRY_4, SECOND_TRY_4 = (
    f"FD0000000000000000000000000000023D774E0E2F2A88E9B{end}" for end in ("0D30002", "505000F")
)
BY_4_9_8 = (
    f"Pub\x011795788216432\x01DefaultRegion\x01shop\x01orders\x01{ORDER_4}\x01created\x01k1 k2\x01127.0.0.1:29544\x015"
    "\x0116\x010\x017F000001000073680000000000000000\x01true\x02"
    f"SubBefore\x011795788216531\x01null\x01billing\x01{FIRST_TRY_4}\x01{ORDER_4}\x010\x01k1 k2\x02"
    f"SubAfter\x01{FIRST_TRY_4}\x01{ORDER_4}\x0127\x01false\x01k1 k2\x014\x011795788216558\x01billing\x02"
    f"SubBefore\x011795788217605\x01null\x01billing\x01{SECOND_TRY_4}\x01{ORDER_4}\x011\x01k1 k2\x02"
    f"SubAfter\x01{SECOND_TRY_4}\x01{ORDER_4}\x012\x01true\x01k1 k2\x010\x011795788217607\x01billing\x02"
    f"Pub\x011795788216656\x01DefaultRegion\x01payers\x01payments\x01{PAYMENT_4}\x01null\x01null\x01127.0.0.1:29544"
    "\x011\x012\x011\x017F0000010000736800000000000004EC\x01true\x02"
    f"EndTransaction\x011795788218377\x01DefaultRegion\x01payers\x01payments\x01{PAYMENT_4}\x01null\x01null"
    f"\x01127.0.0.1:29544\x012\x01{PAYMENT_4}\x01COMMIT_MESSAGE\x01true\x02"
)
ORDER_5 = "FD00000000000000000000000000000247EE4E0E2F2A88EAD8A20008"
PAYMENT_5 = "FD00000000000000000000000000000247EE4E0E2F2A88EAD88A0002"
TRY_5 = "FD00000000000000000000000000000247EE4E0E2F2A88EADDD8000B"
BY_5_3_3 = (
    f"Pub\x011795788292258\x01DefaultRegion\x01shop\x01orders\x01{ORDER_5}\x01null\x01null\x01127.0.0.1:21296\x014\x013"
    "\x013\x017F00000100005330000000000000051A\x01true\x02"
    f"SubBefore\x011795788293592\x01DefaultRegion\x01billing\x01{TRY_5}\x01{ORDER_5}\x010\x01null\x02"
    f"SubAfter\x01{TRY_5}\x01{ORDER_5}\x014\x01false\x01null\x014\x011795788293596\x01billing\x02"
    f"EndTransaction\x011795788292244\x01DefaultRegion\x01payers\x01payments\x01{PAYMENT_5}\x01null\x01p1"
    f"\x01127.0.0.1:21296\x012\x01{PAYMENT_5}\x01COMMIT_MESSAGE\x01false\x02"
)


def test_records_of_the_java_client_4_9_8() -> None:
    region, host = "DefaultRegion", "127.0.0.1:29544"
    stored = "7F000001000073680000000000000000", "7F0000010000736800000000000004EC"
    keys = "k1 k2"
    assert decode_traces(BY_4_9_8) == [
        SentTrace(1795788216432, region, "shop", "orders", ORDER_4, "created", keys, host, 5, 16, 0, stored[0], True),
        DeliveredTrace(1795788216531, None, "billing", FIRST_TRY_4, ORDER_4, 0, keys),
        HandledTrace(FIRST_TRY_4, ORDER_4, 27, False, keys, 4, 1795788216558, "billing"),
        DeliveredTrace(1795788217605, None, "billing", SECOND_TRY_4, ORDER_4, 1, keys),
        HandledTrace(SECOND_TRY_4, ORDER_4, 2, True, keys, 0, 1795788217607, "billing"),
        SentTrace(1795788216656, region, "payers", "payments", PAYMENT_4, None, None, host, 1, 2, 1, stored[1], True),
        EndedTrace(
            1795788218377, region, "payers", "payments", PAYMENT_4, None, None, host, 2, PAYMENT_4, "COMMIT_MESSAGE",
            True,
        ),
    ]  # fmt: skip


def test_records_of_the_java_client_5_3_3() -> None:
    region, host = "DefaultRegion", "127.0.0.1:21296"
    stored = "7F00000100005330000000000000051A"
    assert decode_traces(BY_5_3_3) == [
        SentTrace(1795788292258, region, "shop", "orders", ORDER_5, None, None, host, 4, 3, 3, stored, True),
        DeliveredTrace(1795788293592, region, "billing", TRY_5, ORDER_5, 0, None),
        HandledTrace(TRY_5, ORDER_5, 4, False, None, 4, 1795788293596, "billing"),
        EndedTrace(
            1795788292244, region, "payers", "payments", PAYMENT_5, None, "p1", host, 2, PAYMENT_5, "COMMIT_MESSAGE",
            False,
        ),
    ]  # fmt: skip


@pytest.mark.parametrize("text", [BY_4_9_8, BY_5_3_3])
def test_we_write_as_java_does(text: str) -> None:
    read = decode_traces(text)

    assert "".join(encode_trace(trace) for trace in read if not isinstance(trace, UnreadTrace)) == text


# -- the forms of older clients


def test_the_oldest_send_has_no_offset_id() -> None:
    text = record("Pub", "5", "r", "g", "t", "ID", "null", "k1 k2", "10.0.0.1:10911", "3", "7", "0", "true")

    assert decode_traces(text) == [
        SentTrace(5, "r", "g", "t", "ID", None, "k1 k2", "10.0.0.1:10911", 3, 7, 0, None, True)
    ]


def test_some_clients_add_their_address() -> None:
    text = record("Pub", "5", "r", "g", "t", "ID", "tag", "", "h", "3", "7", "3", "OFFSET", "false", "10.0.0.9", "more")

    assert decode_traces(text) == [
        SentTrace(5, "r", "g", "t", "ID", "tag", None, "h", 3, 7, 3, "OFFSET", False, "10.0.0.9")
    ]


@pytest.mark.parametrize(
    ("rest", "code", "timestamp", "group"),
    [
        ((), None, None, None),
        (("4",), 4, None, None),
        (("4", ""), 4, None, None),
        (("0", "9", "g"), 0, 9, "g"),
        (("0", "9", "g", "more"), 0, 9, "g"),
    ],
)
def test_an_older_consumer_says_less(
    rest: tuple[str, ...], code: int | None, timestamp: int | None, group: str | None
) -> None:
    text = record("SubAfter", "R", "ID", "2", "true", "null", *rest)

    assert decode_traces(text) == [HandledTrace("R", "ID", 2, True, None, code, timestamp, group)]


# -- what cannot be read


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (record("Sub", "1"), "a record of the unknown kind 'Sub'"),
        (record("Pub", "5", "r"), "Pub has 2 fields instead of at least 12"),
        (record("SubBefore", "\u0665", "r", "g", "R", "ID", "0", "k"), "SubBefore: '\u0665' is not a number"),
        (record("Recall", "1", "r", "g", "t", "ID", "maybe"), "Recall: 'maybe' is neither true nor false"),
        (record("SubAfter", "R", "ID", "9" * 30, "true", "k"), f"SubAfter: '{'9' * 30}' is not a number"),
    ],
)
def test_a_record_that_cannot_be_read_is_told_among_the_others(text: str, reason: str) -> None:
    good = RecalledTrace(1, None, "g", "t", "ID", True)

    unread, read = decode_traces(text + encode_trace(good))

    assert unread == UnreadTrace(text.removesuffix("\x02"), reason)
    assert read == good


# -- what a search needs


def test_a_record_is_found_by_message_ids_and_keys() -> None:
    trace = SentTrace(1, None, "g", "t", "A,B", None, "k1 k2", None, 3, 7, 0, None, True)

    assert keys_of(trace) == ["A", "B", "k1", "k2"]
    assert concerns(trace, "B")
    assert not concerns(trace, "A,")
    assert keys_of(RecalledTrace(1, None, "g", "t", "C", True)) == ["C"]


def test_outcomes_have_words() -> None:
    def outcome(code: int | None) -> str | None:
        return outcome_of(HandledTrace("R", "ID", 2, False, None, code, None, None))

    assert [outcome(code) for code in (None, 0, 1, 2, 3, 4, 5, -1)] == [
        None, "success", "timeout", "exception", "returned_null", "failed", None, None,
    ]  # fmt: skip
