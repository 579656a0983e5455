"""Keys are found through the index: what that costs, and that nothing is missed where the index cannot tell."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from broker_core.spark.bytes_read import BytesRead, PlanCost
from broker_core.spark.options import SourceOptions
from broker_core.spark.reading import plan, read_rows
from broker_core.store import MessageStore, StoreConfig
from broker_core.store.index_file import HEADER
from tests.support.stores import NOW, overwrite, put_batch, queue_file, segment
from tests.support.topics import order, orders, write_topic

COUNT = 3000


def read(store: Path, keys: Sequence[str], **changes: Any) -> tuple[list[int], BytesRead, list[str]]:
    """Return the numbers of the orders found, the bytes read for them, and the notes of the plan."""
    given = {"topics": ("orders",), "stores": (store,), "brokers": ("broker-a",), "keys": frozenset(keys), **changes}
    options, cost = SourceOptions(**given), PlanCost()
    found = [
        int(row["body"][5:-1])
        for part in plan(options, cost)
        for batch in read_rows(part, options, ("body",), cost.read)
        for row in batch.to_pylist()
    ]
    return sorted(found), cost.read, cost.notes


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with 3000 orders in two queues, whose keys fill fifteen index files."""
    folder = tmp_path_factory.mktemp("written")
    write_topic(folder, orders(COUNT), step_ms=1000)
    return folder


@pytest.fixture
def store(written: Path, tmp_path: Path) -> Path:
    """A copy of that store, to be damaged."""
    shutil.copytree(written, tmp_path / "store")
    return tmp_path / "store"


def index_files(store: Path) -> list[Path]:
    return sorted((store / "index").iterdir())


def test_one_key_of_40000_messages_reads_few_bytes(tmp_path: Path) -> None:
    config = StoreConfig(
        tmp_path, commit_log_file_size=1 << 24, min_free_bytes=0, index_slots=50_000, index_entries=200_000
    )
    with MessageStore.open(config, now=NOW) as store:
        for begin in range(0, 40_000, 200):
            batch = [order(number, body=b'{"n":%d}' % number) for number in range(begin, begin + 200)]
            put_batch(store, batch, topic="orders", queue_id=begin // 200 % 4, now=NOW + begin)
            store.dispatch()
    found, cost, notes = read(tmp_path, ["k31234"])
    assert (found, notes) == ([31234], [])
    # The message, and at most two more in each queue: the first and the last ones that the index knows.
    assert cost.log <= (1 + 2 * 4) * 250
    assert cost.queue <= 2 * 4 * (2 + 3 * 15) * 20
    assert cost.index <= 2 * 4 * (HEADER.size + 64 * 24 + 4 + 20 * 20)


def test_the_line_for_the_log_has_readable_amounts() -> None:
    assert (
        BytesRead(793, 4600, 3 << 20).text()
        == "bytes read: log 793 B, queue 4.5 KiB, index 3.0 MiB, wire 0 B, table 0 B"
    )


def test_keys_and_times_are_narrowed_together(written: Path) -> None:
    times = {"starting_timestamp": NOW + 2_000_000, "ending_timestamp": NOW + 2_010_000}
    found, cost, _ = read(written, ["k2005", "k5"], **times)
    assert found == [2005]
    assert cost.index < read(written, ["k2005", "k5"])[1].index / 4


def test_many_keys_are_looked_up_at_once(written: Path) -> None:
    wanted = random.Random(7).sample(range(COUNT), 1000)
    assert read(written, [f"k{number}" for number in wanted])[0] == sorted(wanted)
    assert read(written, [f"{number:032X}" for number in wanted])[0] == sorted(wanted)


def test_a_key_of_every_message_reads_everything(written: Path) -> None:
    assert read(written, ["all"])[0] == list(range(COUNT))


def test_a_key_that_no_message_has_is_no_error(written: Path) -> None:
    assert read(written, ["nobody"])[0] == []


def _remove(file: Path) -> None:
    file.unlink()


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:100])


def _zero_the_slots(file: Path) -> None:
    overwrite(file, HEADER.size, bytes(400))


def _zero_the_entries(file: Path) -> None:
    overwrite(file, HEADER.size + 400, bytes(file.stat().st_size - HEADER.size - 400))


def _zero_everything(file: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


def _fill_with_noise(file: Path) -> None:
    overwrite(file, HEADER.size, random.Random(3).randbytes(file.stat().st_size - HEADER.size))


def _make_a_loop(file: Path) -> None:
    entries = HEADER.size + 400
    data = file.read_bytes()
    for number in range(1, 380):
        overwrite(file, entries + number * 20 + 16, number.to_bytes(4, "big"))
    assert data != file.read_bytes()


@pytest.mark.parametrize(
    "harm", [_remove, _cut, _zero_the_slots, _zero_the_entries, _zero_everything, _fill_with_noise, _make_a_loop]
)
@pytest.mark.parametrize("which", [0, 7, -1])
def test_what_the_index_does_not_cover_is_read_and_said(store: Path, harm: Callable[[Path], None], which: int) -> None:
    harm(index_files(store)[which])
    wanted = [number * COUNT // 40 for number in range(40)]
    found, _, notes = read(store, [f"k{number}" for number in wanted])
    assert found == wanted
    assert any("the index does not cover" in note for note in notes)


def test_a_store_without_an_index_is_read_completely_and_says_so(store: Path) -> None:
    shutil.rmtree(store / "index")
    found, _, notes = read(store, ["k17"])
    assert found == [17]
    assert notes[0] == "broker-a topic=orders queue=0: the index does not cover 1500 of 1500 messages, which are read"


def test_a_damaged_unit_of_a_queue_hides_no_key(store: Path) -> None:
    for number in (0, 749, 750, 1499):
        overwrite(queue_file(store, "orders"), number * 20, bytes(12))
    options = SourceOptions(
        topics=("orders",), stores=(store,), brokers=("broker-a",), keys=frozenset(f"k{n}" for n in range(1490, 1510))
    )
    parts = plan(options)
    found = [
        (row["queue_id"], row["queue_offset"], row["_error"])
        for part in parts
        for batch in read_rows(part, options, ("queue_id", "queue_offset", "_error"))
        for row in batch.to_pylist()
    ]
    assert {(queue, at) for queue, at, _ in found} >= {(n % 2, n // 2) for n in range(1490, 1510)}
    assert {at for queue, at, error in found if error and not queue} >= {749, 750}


def test_a_damaged_record_of_a_key_is_a_row(store: Path) -> None:
    overwrite(segment(store), segment(store).read_bytes().index(b'{"n":3}'), b"z")
    options = SourceOptions(topics=("orders",), stores=(store,), brokers=("broker-a",), keys=frozenset({"k3", "k5"}))
    rows = [
        (row["queue_offset"], row["_error"])
        for part in plan(options)
        for batch in read_rows(part, options, ("queue_offset", "_error"))
        for row in batch.to_pylist()
    ]
    assert rows == [(1, "the body does not match the checksum in the record"), (2, None)]


def test_other_topics_with_the_key_are_not_read(tmp_path: Path) -> None:
    write_topic(tmp_path, [order(n, topic="orders" if n % 2 else "other") for n in range(40)], queues=1)
    assert read(tmp_path, ["k7", "k8"])[0] == [7]
