"""A name server's own configuration: changes survive a restart."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.namesrv.config import NameServerConfig
from broker_core.namesrv.options import FILE_NAME, OptionFixed, OptionRefused, Options
from broker_core.namesrv.settings import SettingsDamaged
from broker_core.protocol.networks import Networks


def options_in(folder: Path) -> Options:
    return Options(NameServerConfig(settings_file=folder / "kvConfig.json"), port=lambda: 9876)


async def test_a_change_is_there_after_a_restart(tmp_path: Path) -> None:
    await options_in(tmp_path).update({"orderMessageEnable": "TRUE"})

    again = options_in(tmp_path)

    assert again.config.order_message_enable
    assert again.texts()["orderMessageEnable"] == "true"


async def test_a_name_server_without_a_file_can_be_changed_too() -> None:
    options = Options(NameServerConfig(), port=lambda: 9876)

    await options.update({"orderMessageEnable": "true"})

    assert options.config.order_message_enable


async def test_nothing_changes_when_one_name_is_wrong(tmp_path: Path) -> None:
    options = options_in(tmp_path)

    with pytest.raises(OptionRefused, match="has no setting 'colour'"):
        await options.update({"orderMessageEnable": "true", "colour": "blue"})

    assert not options.config.order_message_enable


async def test_what_the_start_set_is_fixed(tmp_path: Path) -> None:
    with pytest.raises(OptionFixed, match="listenPort can be set only at the start"):
        await options_in(tmp_path).update({"listenPort": "1"})


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"settings": 1}', '{"settings": {"listenPort": "1"}}'])
def test_a_damaged_file_is_said_so(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE_NAME).write_text(text)

    with pytest.raises(SettingsDamaged):
        options_in(tmp_path)


async def test_networks_that_may_change_it_are_told_and_fixed() -> None:
    options = Options(NameServerConfig(change_networks=Networks.parse("10.20.0.0/16")), port=lambda: 9876)

    assert options.texts()["changeNetworks"] == "10.20.0.0/16"
    assert "changeNetworks" not in Options(NameServerConfig(), port=lambda: 9876).texts()
    with pytest.raises(OptionFixed, match="changeNetworks can be set only at the start"):
        await options.update({"changeNetworks": ""})
