"""The journal keeps every answered change, cuts off a torn tail, and may be rewritten at any time."""

from __future__ import annotations

import struct
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.broker.errors import BadConfigFile
from broker_core.broker.pop.changes import (
    Acknowledged,
    AllAcknowledged,
    Change,
    Failed,
    Held,
    Leased,
    Opened,
    QueueClosed,
    Replaced,
)
from broker_core.broker.pop.journal import FILE_NAME, Journal, decode_all, encode

EXAMPLES: list[Change] = [
    Opened(1, "billing", "orders", 3, 17),
    Leased(1, 20, 1_700_000_000_000, 1_700_000_030_000, (17, 19)),
    Leased(1, 25, 0, 0, ()),
    Acknowledged(1, 17),
    AllAcknowledged(1, (18, 21)),
    Held(1, 19, 1_700_000_000_001, 1_700_000_060_000, 4, 1_699_999_999_000),
    Failed(1, 19, "db down: Zürich"),
    QueueClosed(1),
    Replaced((Opened(4, "billing", "orders", 3, 17), Failed(4, 17, "db down"), Leased(4, 20, 0, 0, ()))),
    Replaced(()),
]

numbers = st.integers(0, 2**32 - 1)
offsets = st.integers(-(2**63), 2**63 - 1)
changes: st.SearchStrategy[Change] = st.one_of(
    st.builds(Opened, numbers, st.text(max_size=80), st.text(max_size=80), st.integers(-1, 2**31 - 1), offsets),
    st.builds(Leased, numbers, offsets, offsets, offsets, st.lists(st.integers(0, 2**63 - 1)).map(tuple)),
    st.builds(Acknowledged, numbers, offsets),
    st.builds(AllAcknowledged, numbers, st.lists(offsets).map(tuple)),
    st.builds(Held, numbers, offsets, offsets, offsets, numbers, offsets),
    st.builds(Failed, numbers, offsets, st.text(max_size=80)),
    st.builds(QueueClosed, numbers),
)
changes = st.one_of(changes, st.builds(Replaced, st.lists(changes, max_size=5).map(tuple)))


def journal_with(folder: Path, *written: Change) -> Journal:
    journal = Journal(folder)
    journal.load()
    for change in written:
        journal.append(change)
    return journal


def loaded(folder: Path) -> list[Change]:
    journal = Journal(folder)
    found = journal.load()
    journal.close()
    return found


@given(st.lists(changes))
def test_changes_come_back_as_they_were(written: list[Change]) -> None:
    data = b"".join(map(encode, written))

    assert decode_all(data) == (written, len(data))


def test_a_held_message_of_an_earlier_version_has_no_known_first_delivery() -> None:
    payload = struct.pack(">BIqqqI", 4, 1, 19, 1_000, 2_000, 4)

    assert decode_all(struct.pack(">II", crc32(payload), len(payload)) + payload)[0] == [Held(1, 19, 1_000, 2_000, 4)]


@given(st.lists(changes, min_size=1), st.data())
def test_a_file_that_is_cut_anywhere_keeps_its_whole_changes(written: list[Change], data: st.DataObject) -> None:
    text = b"".join(map(encode, written))
    cut = data.draw(st.integers(0, len(text) - 1))

    found, end = decode_all(text[:cut])

    assert found == written[: len(found)]
    assert end <= cut
    assert len(found) < len(written)


def test_what_was_appended_is_there_after_a_restart(tmp_path: Path) -> None:
    journal_with(tmp_path, *EXAMPLES).close()

    assert loaded(tmp_path) == EXAMPLES


def test_a_torn_tail_is_cut_and_the_next_change_follows_the_whole_ones(tmp_path: Path) -> None:
    journal_with(tmp_path, *EXAMPLES).close()
    with (tmp_path / FILE_NAME).open("ab") as file:
        file.write(encode(Acknowledged(1, 99))[:-3])

    journal = Journal(tmp_path)
    assert journal.load() == EXAMPLES
    journal.append(Acknowledged(1, 100))
    journal.close()

    assert loaded(tmp_path) == [*EXAMPLES, Acknowledged(1, 100)]


def test_a_torn_change_inside_a_whole_one_is_refused() -> None:
    whole = encode(Replaced((Opened(1, "billing", "orders", 0, 0),)))
    torn = whole[8:-1]
    with pytest.raises(BadConfigFile, match="torn"):
        decode_all(struct.pack(">II", crc32(torn), len(torn)) + torn)


def test_a_rewrite_keeps_the_state_and_what_came_in_the_meantime(tmp_path: Path) -> None:
    journal = journal_with(tmp_path, *EXAMPLES * 10)
    snapshot: list[Change] = [Opened(2, "billing", "orders", 0, 5), Leased(2, 9, 0, 0, ())]

    text = journal.begin_rewrite(snapshot)
    journal.append(Acknowledged(2, 5))
    file = journal.write_beside(text)
    journal.append(Acknowledged(2, 6))
    journal.end_rewrite(file)
    journal.append(Acknowledged(2, 7))
    journal.close()

    assert loaded(tmp_path) == [*snapshot, Acknowledged(2, 5), Acknowledged(2, 6), Acknowledged(2, 7)]


def test_a_rewrite_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    journal = journal_with(tmp_path, *EXAMPLES)
    journal.begin_rewrite([])
    journal.append(Acknowledged(1, 5))
    journal.end_rewrite(None)
    journal.close()

    assert loaded(tmp_path) == [*EXAMPLES, Acknowledged(1, 5)]


def test_a_crash_in_a_rewrite_leaves_the_old_file(tmp_path: Path) -> None:
    journal = journal_with(tmp_path, *EXAMPLES)
    journal.write_beside(journal.begin_rewrite([]))

    assert loaded(tmp_path) == EXAMPLES


def test_it_requests_a_rewrite_when_it_has_grown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker_core.broker.pop.journal.REWRITE_BYTES", 100)
    asked = []
    journal = journal_with(tmp_path)
    for offset in range(10):
        journal.append(Acknowledged(1, offset))
        asked.append(journal.wants_rewrite)

    journal.end_rewrite(journal.write_beside(journal.begin_rewrite([])))
    asked.append(journal.wants_rewrite)
    journal.close()

    assert asked == [*[False] * 4, *[True] * 6, False]
