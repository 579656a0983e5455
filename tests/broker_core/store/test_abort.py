"""The mark of an open store."""

from __future__ import annotations

import os
from pathlib import Path

from broker_core.store import abort


def test_the_mark_is_there_from_opening_to_closing(tmp_path: Path) -> None:
    assert not abort.is_set(tmp_path)
    abort.set_mark(tmp_path)
    assert abort.is_set(tmp_path)
    assert (tmp_path / "abort").read_text() == f"{os.getpid()}\n"
    abort.clear(tmp_path)
    assert not abort.is_set(tmp_path)
    abort.clear(tmp_path)
