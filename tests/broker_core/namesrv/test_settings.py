"""Key-value settings survive a restart, have limits, and a damaged file is reported."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.namesrv.limits import LimitReached, SettingLimits
from broker_core.namesrv.settings import Settings, SettingsDamaged


async def test_settings_are_there_after_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "kvConfig.json"
    settings = Settings(file)
    await settings.put("ORDER_TOPIC_CONFIG", "orders", "broker-a:4")
    await settings.put("other", "gone", "1")
    await settings.delete("other", "gone")
    await settings.delete("other", "never there")
    again = Settings(file)
    assert again.find("ORDER_TOPIC_CONFIG", "orders") == "broker-a:4"
    assert again.find_namespace("other") == {}
    assert again.find_namespace("nothing") is None


async def test_without_a_file_settings_live_in_memory() -> None:
    settings = Settings()
    await settings.put("space", "key", "value")
    assert settings.find("space", "key") == "value"
    assert settings.find("space", "other") is None


@pytest.mark.parametrize("content", [b"", b"[]", b'{"configTable": 1}', b"not json"])
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "kvConfig.json"
    file.write_bytes(content)
    with pytest.raises(SettingsDamaged, match="kvConfig"):
        Settings(file)


SMALL = SettingLimits(settings=6, settings_bytes=20, setting_name_bytes=3, setting_value_bytes=8)


@pytest.mark.parametrize(
    ("namespace", "key", "value", "limit"),
    [
        ("n", "k", "v" * 9, "setting_value_bytes=8"),
        ("n", "k", "四五六", "setting_value_bytes=8"),
        ("long", "k", "v", "setting_name_bytes=3"),
        ("n", "long", "v", "setting_name_bytes=3"),
        ("n", "c", "v" * 8, "settings_bytes=20"),
        ("n2", "a", "", "settings=6"),
    ],
)
async def test_what_exceeds_a_limit_is_refused_by_its_name_and_not_kept(
    tmp_path: Path, namespace: str, key: str, value: str, limit: str
) -> None:
    settings = Settings(tmp_path / "kv.json", SMALL)
    for each in "ab" if "bytes" in limit else "abcde":
        await settings.put("n", each, "1234567" if "bytes" in limit else "")

    with pytest.raises(
        LimitReached, match=f"limit {limit} reached: setting '{key}' of namespace '{namespace}' was not"
    ):
        await settings.put(namespace, key, value)

    assert settings.find(namespace, key) is None
    assert Settings(tmp_path / "kv.json").find(namespace, key) is None


async def test_what_a_file_holds_beyond_the_limits_is_read_and_may_become_less(tmp_path: Path) -> None:
    file = tmp_path / "kv.json"
    generous = Settings(file)
    for each in range(20):
        await generous.put("n", str(each), "12345678")
    settings = Settings(file, SMALL)

    with pytest.raises(LimitReached, match="limit settings=6 reached"):
        await settings.put("n", "x", "")
    await settings.put("n", "19", "1")
    await settings.delete("n", "18")

    assert settings.find("n", "19") == "1"
    assert settings.find("n", "18") is None


_NAMES = st.sampled_from(["a", "b", "c"])
_STEPS = st.lists(st.tuples(_NAMES, _NAMES, st.none() | st.text(max_size=9)))


@given(_STEPS)
def test_whatever_is_put_and_deleted_no_limit_is_exceeded_and_the_room_of_what_left_is_free(
    steps: list[tuple[str, str, str | None]],
) -> None:
    async def run() -> Settings:
        settings = Settings(limits=SMALL)
        for namespace, key, value in steps:
            with contextlib.suppress(LimitReached):
                await (settings.delete(namespace, key) if value is None else settings.put(namespace, key, value))
        kept = {space: texts for space in "abc" if (texts := settings.find_namespace(space)) is not None}
        assert sum(1 + len(texts) for texts in kept.values()) <= 6
        size = sum(len((space + "".join([*texts, *texts.values()])).encode()) for space, texts in kept.items())
        assert size <= 20
        for space, texts in kept.items():
            for key in texts:
                await settings.delete(space, key)
        return settings

    settings = asyncio.run(run())
    if settings.find_namespace("a") is not None:
        asyncio.run(settings.put("a", "a", "12345678"))
        assert settings.find("a", "a") == "12345678"
