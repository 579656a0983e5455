"""Every setting can be read and written back, and has RocketMQ's default."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.broker import BrokerConfig
from broker_core.broker.settings.table import BLACK_LIST, SETTINGS, Setting, facts
from broker_core.store import StoreConfig

CONFIG = BrokerConfig(StoreConfig(Path("/data")))


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=lambda setting: setting.name)
def test_a_setting_takes_its_own_text(setting: Setting) -> None:
    assert setting.put(CONFIG, setting.text(CONFIG)) == CONFIG


def test_the_defaults_are_rocketmqs() -> None:
    defaults = {
        "autoCreateTopicEnable": "true",
        "defaultTopicQueueNums": "8",
        "brokerPermission": "6",
        "maxMessageSize": "4194304",
        "messageDelayLevel": "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h",
        "flushDiskType": "ASYNC_FLUSH",
        "fileReservedTime": "72",
        "deleteWhen": "04",
        "diskMaxUsedSpaceRatio": "75",
        "mappedFileSizeCommitLog": "1073741824",
        "mappedFileSizeConsumeQueue": "6000000",
        "maxHashSlotNum": "5000000",
        "maxIndexNum": "20000000",
    }

    assert {name: SETTINGS[name].text(CONFIG) for name in defaults} == defaults


def test_a_setting_that_is_kept_twice_changes_in_both_places() -> None:
    changed = SETTINGS["maxMessageSize"].put(CONFIG, "100")

    assert (changed.limits.body_bytes, changed.store.max_message_size) == (100, 100)


def test_no_fact_can_be_changed() -> None:
    names = {name for name, _ in facts(CONFIG, "127.0.0.1:10911")}

    assert not names & SETTINGS.keys()
    assert not BLACK_LIST & SETTINGS.keys()
    assert {"brokerName", "listenPort", "namesrvAddr", "storePathRootDir"} <= names


def test_the_manual_names_every_setting() -> None:
    manual = (Path(__file__).parents[4] / "docs/operations.md").read_text()

    missing = {name for name in SETTINGS if not name.startswith("limit") and f"`{name}`" not in manual}
    assert missing == set()
