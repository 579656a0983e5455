"""Key-value settings survive a restart, and a damaged file is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.namesrv.settings import Settings, SettingsDamaged


def test_settings_are_there_after_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "kvConfig.json"
    settings = Settings(file)
    settings.put("ORDER_TOPIC_CONFIG", "orders", "broker-a:4")
    settings.put("other", "gone", "1")
    settings.delete("other", "gone")
    settings.delete("other", "never there")
    again = Settings(file)
    assert again.find("ORDER_TOPIC_CONFIG", "orders") == "broker-a:4"
    assert again.find_namespace("other") == {}
    assert again.find_namespace("nothing") is None


def test_without_a_file_settings_live_in_memory() -> None:
    settings = Settings()
    settings.put("space", "key", "value")
    assert settings.find("space", "key") == "value"
    assert settings.find("space", "other") is None


@pytest.mark.parametrize("content", [b"", b"[]", b'{"configTable": 1}', b"not json"])
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "kvConfig.json"
    file.write_bytes(content)
    with pytest.raises(SettingsDamaged, match="kvConfig"):
        Settings(file)
