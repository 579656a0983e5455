"""The command line that inspects a store."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.store.__main__ import main
from broker_core.store.epochs import EpochFile
from broker_core.store.reader import StoreReader
from tests.support.stores import bodies, files_of, fill, opened, overwrite, put, queue_file, segment, small


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with opened(tmp_path) as store:
        fill(store, 30)
        put(store, b"body", keys=["K1"], tag="TagA", properties={"UNIQ_KEY": "U1"}, topic="Orders", queue_id=2)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    status = main([*map(str, arguments)])
    said = capsys.readouterr()
    return status, said.out + said.err


def test_the_summary_reports_queues_segments_and_index(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = run(capsys, "summary", folder)
    assert status == 0
    for part in ("clean stop   yes", "31 messages", "2 queues:", "segments of 2048 bytes", "of 19 keys"):
        assert part in text
    rows = [line.split()[:5] for line in text.splitlines()]
    assert ["T", "0", "0", "30", "30"] in rows
    assert ["Orders", "2", "0", "1", "1"] in rows
    with StoreReader.open(folder, small(folder)) as reader:
        assert f"all three before log offset {reader.index.files[-1].begin_log_offset}\n" in text


def test_verify_says_intact_or_what_is_wrong(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "verify", folder)[0] == 0
    overwrite(segment(folder), 88, b"X")
    status, text = run(capsys, "verify", folder)
    assert status == 1
    assert "NOT SOUND" in text
    assert "checksum" in text


def test_a_record_is_shown_by_its_log_offset(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = run(capsys, "record", folder, 0)
    assert status == 0
    assert "property     KEYS = k0" in text
    assert run(capsys, "record", folder, 1) == (1, "no record begins at 1\n")


def test_a_record_is_shown_by_its_offset_message_id(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = run(capsys, "record", folder, "0A00000200002A9F0000000000000000")
    assert status == 0
    assert "topic        T  queue 0  offset 0" in text
    assert run(capsys, "record", folder, "Z" * 32)[0] == 2
    assert run(capsys, "record", folder, "here")[0] == 2


def test_a_message_is_shown_by_its_queue_offset(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = run(capsys, "message", folder, "Orders", 2, 0, "--hex")
    assert status == 0
    for part in ("property     TAGS = TagA", "sound        the body", "             body", "da a3 20 a7", "...K1"):
        assert part in text.replace("KEYS.", "...")
    assert run(capsys, "message", folder, "Orders", 2, 1) == (1, "topic Orders queue 2 has the offsets 0 to 1\n")


def test_a_damaged_message_is_named_wherever_it_is_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    overwrite(segment(folder), 88, b"X")
    assert "DAMAGED      its body does not match" in run(capsys, "record", folder, 0)[1]
    listed = run(capsys, "queue", folder, "T", 0, "--count", 5)[1]
    assert "topic=T queue=0 offset=0 at log offset 0 is damaged" in listed
    assert "0:4 " in listed
    assert "topic=T queue=0 offset=0" in run(capsys, "key", folder, "T", "k0")[1]
    assert "damaged message: T queue 0 offset 0, " in run(capsys, "verify", folder)[1]
    status, text = run(capsys, "verify", folder, "--most", 0)
    assert (status, "and 1 more" in text) == (1, True)


def test_a_place_without_a_record_is_shown_as_bytes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    overwrite(segment(folder), 4, b"\1\2\3\4")
    status, text = run(capsys, "message", folder, "T", 0, 0)
    assert status == 1
    assert "DAMAGED      topic T queue 0 offset 0 names 100 bytes at log offset 0, which has no record:" in text
    assert "00000000  00 00 00 64 01 02 03 04" in text
    overwrite(queue_file(folder), 8, b"\0\0\0\0")
    assert "nothing is there" in run(capsys, "message", folder, "T", 0, 0)[1]


def test_a_body_that_is_not_text_is_shown_as_bytes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with opened(folder) as store:
        place = put(store, bytes(99), topic="B")
    text = run(capsys, "message", folder, "B", 0, 0)[1]
    assert "00000060  00 00 00" in text
    assert str(place.log_offset) in text


def test_messages_of_a_queue_are_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = run(capsys, "queue", folder, "T", 0, "--from", 25)
    assert status == 0
    lines = text.splitlines()
    assert [line.split()[0] for line in lines] == ["0:25", "0:26", "0:27", "0:28", "0:29", "30"]
    *listed, rest = run(capsys, "queue", folder, "T", 0, "--count", 12)[1].splitlines()
    assert len(listed) == 12
    assert rest == "18 more: --from 12 begins with them, --count N lists N at once"


def test_messages_with_a_key_are_found(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = run(capsys, "key", folder, "Orders", "K1")
    assert status == 0
    assert "2:0" in text
    assert "1 found" in text
    assert "everything was searched" in text


def test_a_folder_that_is_not_a_store_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = run(capsys, "summary", tmp_path)
    assert status == 2
    assert "it is not a store" in text


def test_index_sizes_can_still_be_given(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "summary", folder, "--index-slots", 10, "--index-entries", 20)[0] == 0
    assert run(capsys, "summary", folder, "--index-slots", 11, "--index-entries", 20)[0] == 2


def test_a_cut_says_what_would_go_and_changes_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = files_of(folder)
    with StoreReader.open(folder, small(folder)) as reader:
        ends = [head.log_offset + head.size for head, _ in reader.walk()]
    status, text = run(capsys, "cut", folder, ends[24] - 1)
    assert status == 0
    for part in (
        f"log offset {ends[24] - 1} is inside a record: the log would end before it, at {ends[23]}",
        f"cut at       {ends[23]}: {ends[30] - ends[23]} bytes to {ends[30]}, 7 records",
        "stored       2023-11-14T22:13:20.024+00:00 to 2023-11-14T22:13:20.000+00:00",
        "2 queues:",
        "nothing was changed: --yes does it",
    ):
        assert part in text
    rows = [line.split() for line in text.splitlines()]
    assert ["T", "0", "6", "messages"] in rows
    assert ["Orders", "2", "1", "messages"] in rows
    assert files_of(folder) == before


def test_a_cut_that_is_confirmed_drops_the_end_and_its_epochs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with StoreReader.open(folder, small(folder)) as reader:
        ends = [head.log_offset + head.size for head, _ in reader.walk()]
    epochs = EpochFile(folder)
    for number, start in enumerate((0, ends[4], ends[24])):
        epochs.add(number, start)
    status, text = run(capsys, "cut", folder, ends[24], "--yes")
    assert (status, text.splitlines()[-1]) == (0, f"the log ends at {ends[24]}")
    assert [entry.start for entry in EpochFile(folder).entries] == [0, ends[4]]
    with opened(folder) as store:
        assert store.recovered.was_clean
        assert bodies(store) == [b"%d" % number for number in range(25)]
        assert store.queues() == [("T", 0)]
    assert run(capsys, "verify", folder)[0] == 0


def test_a_cut_at_the_end_removes_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with opened(folder) as store:
        end = store.appended_log_offset
    assert run(capsys, "cut", folder, end, "--yes") == (
        0,
        f"cut at       {end}: 0 bytes to {end}, 0 records\n0 queues:\nthe log ends at {end}\n",
    )


def test_a_cut_outside_of_the_log_or_of_an_open_store_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with opened(folder) as store:
        end = store.appended_log_offset
        assert run(capsys, "cut", folder, end + 1) == (2, f"the log ends at {end}: nothing is behind {end + 1}\n")
        assert run(capsys, "cut", folder, -1) == (2, "the log begins at 0: it cannot be cut at -1\n")
        status, text = run(capsys, "cut", folder, 200, "--yes")
        assert status == 2
        assert "is in use by this process" in text
        assert store.appended_log_offset == end
