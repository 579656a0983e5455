"""Requirements of `broker_core.broker.store_id`: a data folder is known again, and no other has its id."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.broker.errors import BadConfigFile
from broker_core.broker.saving import JsonFile
from broker_core.broker.store_id import load_or_create


def test_a_folder_keeps_its_id_and_another_has_another(tmp_path: Path) -> None:
    mine, theirs = JsonFile(tmp_path / "a" / "storeId.json"), JsonFile(tmp_path / "b" / "storeId.json")
    created = load_or_create(mine)
    assert load_or_create(mine) == created
    assert load_or_create(theirs) != created


def test_a_file_without_an_id_is_refused(tmp_path: Path) -> None:
    (tmp_path / "storeId.json").write_text('{"storeId": 3}')
    with pytest.raises(BadConfigFile, match="has no storeId"):
        load_or_create(JsonFile(tmp_path / "storeId.json"))
