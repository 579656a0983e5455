"""The checkpoint file."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.store.checkpoint import Checkpoint, read_checkpoint, replace_checkpoint, write_checkpoint

BYTES = bytes.fromhex("0000018BCFE5F9B4 0000018BCFE5F888 0000018BCFE5C494")
CHECKPOINT = Checkpoint(0x18BCFE5F9B4, 0x18BCFE5F888, 0x18BCFE5C494, 4711, 4000)
CONFIRMED = (4000).to_bytes(8, "big")
OURS = BYTES + (4711).to_bytes(8, "big")


def test_a_checkpoint_has_a_page_with_three_times_twice_and_a_log_offset(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, CHECKPOINT)
    assert (tmp_path / "checkpoint").read_bytes() == (BYTES + bytes(8) + CONFIRMED).ljust(256, b"\0") + OURS.ljust(
        4096 - 256, b"\0"
    )
    assert read_checkpoint(tmp_path) == CHECKPOINT


@pytest.mark.parametrize("changed_at", [0, 8, 16])
def test_the_log_offset_counts_only_with_the_times_it_was_written_with(tmp_path: Path, changed_at: int) -> None:
    write_checkpoint(tmp_path, CHECKPOINT)
    with (tmp_path / "checkpoint").open("r+b") as file:
        file.seek(changed_at)
        file.write(bytes(8))
    assert read_checkpoint(tmp_path).covered is None


def test_a_checkpoint_without_a_log_offset_comes_back_without(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, Checkpoint(1, 2, 3))
    assert read_checkpoint(tmp_path) == Checkpoint(1, 2, 3)


def test_writing_again_replaces_what_is_known_only(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, Checkpoint(1, 2, 3))
    with (tmp_path / "checkpoint").open("r+b") as file:
        file.seek(24)
        file.write(b"RocketMQ 5")
    write_checkpoint(tmp_path, CHECKPOINT)
    assert (tmp_path / "checkpoint").read_bytes()[:40] == BYTES + b"RocketMQ" + CONFIRMED
    assert read_checkpoint(tmp_path) == CHECKPOINT


def test_what_began_before_the_file_was_replaced_is_not_written_into_the_new_one(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, CHECKPOINT)

    def replaced_meanwhile() -> bool:
        replace_checkpoint(tmp_path, Checkpoint(1, 2, 3))
        return True

    write_checkpoint(tmp_path, CHECKPOINT, if_still=replaced_meanwhile)
    assert read_checkpoint(tmp_path) == Checkpoint(1, 2, 3)
    write_checkpoint(tmp_path, CHECKPOINT, if_still=lambda: False)
    assert read_checkpoint(tmp_path) == Checkpoint(1, 2, 3)


@pytest.mark.parametrize("data", [None, b"", b"short"])
def test_a_checkpoint_that_cannot_be_read_knows_of_nothing(tmp_path: Path, data: bytes | None) -> None:
    if data is not None:
        (tmp_path / "checkpoint").write_bytes(data)
    assert read_checkpoint(tmp_path) == Checkpoint(0, 0, 0)


@pytest.mark.parametrize(
    ("checkpoint", "recover_from"),
    [
        (Checkpoint(10_000, 20_000, 30_000), 7_000),
        (Checkpoint(20_000, 10_000, 30_000), 7_000),
        (Checkpoint(20_000, 10_000, 5_000), 5_000),
        (Checkpoint(1_000, 10_000, 5_000), 0),
    ],
)
def test_recovery_begins_before_all_three(checkpoint: Checkpoint, recover_from: int) -> None:
    assert checkpoint.recover_from == recover_from
