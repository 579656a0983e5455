"""The current settings: changed while the broker runs, saved over restarts, applied by their watchers."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import pytest

from broker_core.broker import BrokerConfig, Identity
from broker_core.broker.config import BrokerRole
from broker_core.broker.errors import BadConfigFile, SettingFixed, SettingIllegal, SettingUnknown
from broker_core.broker.settings import Settings
from broker_core.broker.settings.register import FILE_NAME
from broker_core.store import StoreConfig

NOW = 1_700_000_000_000


def settings_in(folder: Path, **started_with: str) -> Settings:
    return Settings.of(BrokerConfig(StoreConfig(folder), settings=started_with))


def kept(settings: Settings) -> None:
    settings.save(settings.text())


def text_of(settings: Settings, name: str) -> str:
    return dict(settings.lines("127.0.0.1:10911"))[name]


def test_a_change_takes_effect_at_once_and_watchers_are_called(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    seen: list[bool] = []
    settings.watch(lambda config: seen.append(config.topics.auto_create_topics))

    settings.update({"autoCreateTopicEnable": "false"}, now=NOW)

    assert seen == [True, False]
    assert not settings.config.topics.auto_create_topics
    assert text_of(settings, "autoCreateTopicEnable") == "false"
    assert (settings.version.counter, settings.version.timestamp) == (1, NOW)


def test_a_setting_that_is_read_at_the_start_holds_after_the_next_one(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)

    settings.update({"messageDelayLevel": "1s 2s"}, now=NOW)
    kept(settings)

    assert len(settings.config.store.delay_levels_ms) == 18
    assert text_of(settings, "messageDelayLevel") == "1s 2s"
    assert settings_in(tmp_path).config.store.delay_levels_ms == (1_000, 2_000)


def test_what_was_changed_is_there_after_a_restart(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    settings.update({"fileReservedTime": "48"}, now=NOW)
    assert settings.is_changed
    kept(settings)

    again = settings_in(tmp_path)

    assert again.config.store.retention_ms == 48 * 3_600_000
    assert again.version == settings.version
    assert not again.is_changed


def test_the_start_comes_before_what_was_changed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    settings = settings_in(tmp_path)
    settings.update({"fileReservedTime": "48"}, now=NOW)
    kept(settings)

    with caplog.at_level(logging.WARNING):
        again = settings_in(tmp_path, fileReservedTime="24")

    assert text_of(again, "fileReservedTime") == "24"
    assert "setting=fileReservedTime: '24', given at the start, overrides '48'" in caplog.text


def test_what_the_start_gives_and_reads_cannot_be_changed(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, aclEnable="false", fileReservedTime="24")
    with pytest.raises(SettingFixed, match="setting aclEnable is given at the start, as 'false'"):
        settings.update({"fileReservedTime": "48", "aclEnable": "true"}, now=NOW)
    assert text_of(settings, "fileReservedTime") == "24"
    settings.update({"fileReservedTime": "48", "aclEnable": "false"}, now=NOW)
    assert settings.config.store.retention_ms == 48 * 3_600_000, "this one holds until the next start"


@pytest.mark.parametrize(
    ("name", "text", "error", "said"),
    [
        ("colour", "blue", SettingUnknown, "this broker has no setting 'colour'"),
        ("sendMessageThreadPoolNums", "4", SettingUnknown, "has no setting 'sendMessageThreadPoolNums'"),
        ("deleteWhen", "25", SettingIllegal, "setting deleteWhen: '25' is not hours of the day"),
        ("rejectTransactionMessage", "no", SettingIllegal, "'no' is not true or false"),
        ("brokerName", "other", SettingFixed, "setting brokerName is fixed or can be set only at"),
        ("brokerConfigPath", "/tmp/x", SettingFixed, "Can not update config in black list."),
    ],
)
def test_nothing_changes_when_one_setting_is_refused(
    tmp_path: Path, name: str, text: str, error: type[Exception], said: str
) -> None:
    settings = settings_in(tmp_path)
    seen: list[BrokerConfig] = []
    settings.watch(seen.append)

    with pytest.raises(error, match=said.replace("'", ".")):
        settings.update({"fileReservedTime": "1", name: text}, now=NOW)

    assert len(seen) == 1
    assert text_of(settings, "fileReservedTime") == "72"
    assert not settings.is_changed


def test_a_wrong_setting_of_the_start_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingIllegal):
        settings_in(tmp_path, maxMessageSize="much")


@pytest.mark.parametrize(
    "text", ["[]", "{}", '{"settings": []}', '{"settings": {"colour": "blue"}}', '{"settings": {"deleteWhen": "x"}}']
)
def test_a_file_that_holds_something_else_is_said_so(tmp_path: Path, text: str) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / FILE_NAME).write_text(text)

    with pytest.raises(BadConfigFile, match=FILE_NAME):
        settings_in(tmp_path)


def test_a_role_that_does_not_fit_the_id_is_refused(tmp_path: Path) -> None:
    slave = BrokerConfig(StoreConfig(tmp_path), identity=Identity(broker_id=1), settings={"brokerRole": "SLAVE"})

    assert Settings.of(slave).config.replication.role is BrokerRole.SLAVE
    with pytest.raises(SettingIllegal, match="a slave needs a brokerId above 0"):
        settings_in(tmp_path, brokerRole="SLAVE")
    with pytest.raises(SettingIllegal, match="brokerId 1 is a slave's, and this broker is ASYNC_MASTER"):
        Settings.of(replace(slave, settings={}))


def test_a_master_does_not_become_a_slave_by_a_change(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)

    settings.update({"brokerRole": "SYNC_MASTER"}, now=NOW)
    with pytest.raises(SettingIllegal, match="brokerId above 0"):
        settings.update({"brokerRole": "SLAVE"}, now=NOW)

    assert text_of(settings, "brokerRole") == "SYNC_MASTER"


def test_a_replica_without_controllers_is_refused(tmp_path: Path) -> None:
    config = BrokerConfig(store=StoreConfig(tmp_path), settings={"enableControllerMode": "true"})
    with pytest.raises(SettingIllegal, match=r"enableControllerMode.* needs controllerAddr"):
        Settings.of(config)


def test_a_replica_that_others_cannot_find_again_is_refused(tmp_path: Path) -> None:
    settings = {"enableControllerMode": "true", "controllerAddr": "127.0.0.1:9878"}
    with pytest.raises(SettingIllegal, match=r"enableControllerMode.* needs a listenPort"):
        Settings.of(BrokerConfig(store=StoreConfig(tmp_path), port=0, settings=settings))
