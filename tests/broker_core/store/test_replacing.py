"""A small file that is replaced as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.store.errors import StoreFull
from broker_core.store.replacing import replace_file
from tests.support.full_disk import no_room


def test_a_file_gets_its_new_content_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "file"
    replace_file(file, b"first")
    replace_file(file, b"second")
    assert file.read_bytes() == b"second"
    assert list(tmp_path.iterdir()) == [file]


def test_without_room_the_old_file_stays(tmp_path: Path) -> None:
    file = tmp_path / "file"
    replace_file(file, b"first")
    with no_room(), pytest.raises(StoreFull, match=r"no space left on the disk for 6 more bytes of .*/file"):
        replace_file(file, b"second")
    assert file.read_bytes() == b"first"
