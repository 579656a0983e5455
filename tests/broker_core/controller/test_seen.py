"""What a controller remembers of the engine's revision."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.controller.seen import Seen, SeenDamaged


def test_an_engine_that_went_back_shows_in_the_next_run(tmp_path: Path) -> None:
    file = tmp_path / "controller" / "seen.json"
    seen = Seen(file)
    assert not seen.shows_set_back(0)
    seen.note(7, now=10.0)
    again = Seen(file)
    assert not again.shows_set_back(7)
    assert again.shows_set_back(6)
    again.confirm(6)
    assert not Seen(file).shows_set_back(6)


def test_revisions_are_written_once_a_second(tmp_path: Path) -> None:
    file = tmp_path / "seen.json"
    seen = Seen(file)
    seen.note(7, now=10.0)
    seen.note(8, now=10.9)
    assert Seen(file).revision == 7
    seen.note(6, now=12.0)
    assert Seen(file).revision == 7
    seen.note(9, now=12.0)
    assert Seen(file).revision == 9


def test_an_operator_says_that_the_engine_was_restored(tmp_path: Path) -> None:
    file = tmp_path / "seen.json"
    Seen(file).mark()
    seen = Seen(file)
    assert seen.shows_set_back(100)
    seen.note(101, now=0.0)
    assert Seen(file).shows_set_back(101)
    seen.confirm(101)
    assert not Seen(file).shows_set_back(101)


@pytest.mark.parametrize(
    "text", ["", "7", "{}", '{"revision": "7", "set_back": false}', '{"revision": 7, "set_back": 1}']
)
def test_anything_else_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "seen.json"
    file.write_text(text)
    with pytest.raises(SeenDamaged, match="start once with --set-back"):
        Seen(file)
