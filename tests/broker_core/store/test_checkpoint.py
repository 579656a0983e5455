"""The checkpoint file."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.store.checkpoint import Checkpoint, read_checkpoint, write_checkpoint

BYTES = bytes.fromhex("0000018BCFE5F9B4 0000018BCFE5F888 0000018BCFE5C494")
CHECKPOINT = Checkpoint(0x18BCFE5F9B4, 0x18BCFE5F888, 0x18BCFE5C494)


def test_a_checkpoint_has_a_page_and_three_times(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, CHECKPOINT)
    assert (tmp_path / "checkpoint").read_bytes() == BYTES + bytes(4096 - 24)
    assert read_checkpoint(tmp_path) == CHECKPOINT


def test_writing_again_replaces_the_times_only(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, Checkpoint(1, 2, 3))
    with (tmp_path / "checkpoint").open("r+b") as file:
        file.seek(24)
        file.write(b"what RocketMQ 5 keeps here")
    write_checkpoint(tmp_path, CHECKPOINT)
    assert (tmp_path / "checkpoint").read_bytes()[:50] == BYTES + b"what RocketMQ 5 keeps here"


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
