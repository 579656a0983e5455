"""A name server's configuration file: what it obeys, and what it refuses by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.controller.config import NAMES
from broker_core.namesrv.config import NameServerConfig
from broker_core.namesrv.config_file import OF_CONTROLLER, read_config
from broker_core.properties_file import BadPropertiesFile
from broker_core.protocol.networks import Networks


def written(folder: Path, text: str) -> Path:
    file = folder / "namesrv.conf"
    file.write_text(text, "utf-8")
    return file


def test_a_usual_file_is_obeyed(tmp_path: Path) -> None:
    text = (
        "listenPort=9877\nbindAddress=127.0.0.1\nkvConfigPath=/var/lib/gantry/kvConfig.json\norderMessageEnable=true\n"
        "scanNotActiveBrokerInterval=10000\nserverWorkerThreads=8\n"
    )

    found = read_config(written(tmp_path, text))

    assert NameServerConfig(**found.fields) == NameServerConfig(
        "127.0.0.1", 9877, Path("/var/lib/gantry/kvConfig.json"), scan_interval_ms=10_000, order_message_enable=True
    )
    assert found.without_effect == ("serverWorkerThreads",)


@pytest.mark.parametrize("version", ["4.9.8", "5.3.3"])
def test_a_file_of_all_defaults_is_taken(version: str) -> None:
    found = read_config(Path(__file__).with_name(f"defaults-{version}.properties"))

    assert NameServerConfig(**found.fields) == NameServerConfig(
        "0.0.0.0", 9876, Path("/home/rocketmq/namesrv/kvConfig.json")
    )


def test_an_empty_file_listens_everywhere_and_keeps_settings_where_rocketmq_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/mq")

    found = read_config(written(tmp_path, ""))

    assert found.fields == {"host": "0.0.0.0", "settings_file": Path("/home/mq/namesrv/kvConfig.json")}


def test_what_the_name_server_tells_of_its_own_files_may_be_said(tmp_path: Path) -> None:
    text = "configStorePath=/home/mq/namesrv/namesrv.properties\nconfigBlackList=configBlackList;kvConfigPath\n"

    found = read_config(written(tmp_path, text))

    assert found.without_effect == ("configStorePath",)


def test_a_file_of_5_may_say_what_is_so_here(tmp_path: Path) -> None:
    text = (
        "supportActingMaster=false\nenableControllerInNamesrv=false\nenableTopicList=true\n"
        "serverChannelMaxIdleTimeSeconds=120\ndefaultThreadPoolNums=16\nserverSocketBacklog=1024\n"
    )

    assert read_config(written(tmp_path, text)).without_effect == ("defaultThreadPoolNums", "serverSocketBacklog")


@pytest.mark.parametrize(
    "line",
    ["supportActingMaster=true", "enableTopicList=false",
     "deleteTopicWithBrokerRegistration=true", "serverChannelMaxIdleTimeSeconds=60"],
)  # fmt: skip
def test_what_such_a_file_asks_for_and_is_missing_is_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(BadPropertiesFile, match=f"{line.partition('=')[0]}: .* is not served"):
        read_config(written(tmp_path, line))


def test_a_setting_that_can_be_changed_is_not_taken_as_one_that_cannot(tmp_path: Path) -> None:
    with pytest.raises(BadPropertiesFile, match="configBlackList: 'kvConfigPath; orderMessageEnable' is not served"):
        read_config(written(tmp_path, "configBlackList=kvConfigPath; orderMessageEnable\n"))


def test_everything_that_is_refused_is_named_at_once(tmp_path: Path) -> None:
    text = "listenPort=x\nclusterTest=true\norderMessageEnable=1\nscanNotActiveBrokerInterval=5\nkvConfigPath=a\nno=1\n"

    with pytest.raises(BadPropertiesFile) as refused:
        read_config(written(tmp_path, text))

    assert str(refused.value).count(";") == 5
    for line in text.splitlines():
        assert line.partition("=")[0] in str(refused.value)


@pytest.mark.parametrize(
    ("text", "networks"),
    [("", None), ("changeNetworks=\n", Networks()), ("changeNetworks=10.20.0.0/16\n", Networks.parse("10.20.0.0/16"))],
)
def test_a_file_names_the_networks_of_brokers(tmp_path: Path, text: str, networks: Networks | None) -> None:
    assert NameServerConfig(**read_config(written(tmp_path, text)).fields).change_networks == networks


def test_what_is_no_network_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadPropertiesFile, match="changeNetworks: 'everywhere' is not an address or a network"):
        read_config(written(tmp_path, "changeNetworks=everywhere\n"))


def test_what_is_for_a_controller_is_handed_on(tmp_path: Path) -> None:
    file = tmp_path / "namesrv.conf"
    file.write_text("enableControllerInNamesrv=true\ncontrollerStorePath=/var/lib/controller\n")
    assert read_config(file).controller == {
        "enableControllerInNamesrv": "true", "controllerStorePath": "/var/lib/controller",
    }  # fmt: skip
    assert frozenset(OF_CONTROLLER) == NAMES
