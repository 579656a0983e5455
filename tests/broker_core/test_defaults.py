"""What a broker is called and where its files are: by options, by a file, and by neither."""

from __future__ import annotations

import argparse
import socket
from pathlib import Path
from typing import Any

import pytest

from broker_core import defaults
from broker_core.broker import Identity
from broker_core.broker.settings.file import ConfigFile
from broker_core.properties_file import BadPropertiesFile

FILE = Path("/etc/broker.conf")
SILENT = ConfigFile({}, ())
TELLING = ConfigFile({}, (), cluster="shop", name="broker-b", store=Path("/mq/store"))


def given(**options: Any) -> argparse.Namespace:
    names = ("config", "data_dir", "store", "broker_name", "broker_id", "cluster")
    return argparse.Namespace(**(dict.fromkeys(names) | options))


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/mq")
    monkeypatch.setattr(socket, "gethostname", lambda: "mq-1")


def test_without_a_file_they_are_gantry_s_own() -> None:
    assert defaults.identity(given(), SILENT) == Identity(cluster="local", name="broker-a")
    assert defaults.store_folder(given(), SILENT) == Path("data/broker")
    assert defaults.settings_file(given()) == Path("data/namesrv/kvConfig.json")


def test_a_file_that_leaves_them_out_means_what_it_means_to_rocketmq() -> None:
    options = given(config=FILE)

    assert defaults.identity(options, SILENT) == Identity(cluster="DefaultCluster", name="mq-1")
    assert defaults.store_folder(options, SILENT) == Path("/home/mq/store")
    assert defaults.settings_file(options) == Path("/home/mq/namesrv/kvConfig.json")


def test_what_a_file_says_goes_before_that_and_options_before_both() -> None:
    options = given(config=FILE)
    assert defaults.identity(options, TELLING) == Identity(cluster="shop", name="broker-b")
    assert defaults.store_folder(options, TELLING) == Path("/mq/store")

    options = given(config=FILE, broker_name="broker-c", cluster="east", store=Path("/own"), data_dir=Path("/data"))
    assert defaults.identity(options, TELLING) == Identity(cluster="east", name="broker-c")
    assert defaults.store_folder(options, TELLING) == Path("/own")
    assert defaults.settings_file(options) == Path("/data/namesrv/kvConfig.json")


def test_a_folder_for_all_data_goes_before_the_home_folder() -> None:
    assert defaults.store_folder(given(config=FILE, data_dir=Path("/data")), SILENT) == Path("/data/broker")


def test_settings_that_an_earlier_start_with_a_file_kept_here_are_not_forgotten(tmp_path: Path) -> None:
    (tmp_path / "data" / "namesrv").mkdir(parents=True)

    assert defaults.settings_file(given(config=FILE)) == Path("data/namesrv/kvConfig.json")


def test_a_host_s_name_that_no_broker_can_have_is_refused_unless_another_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "mq.example.org")

    with pytest.raises(BadPropertiesFile, match=r"brokerName is missing, and the host's name .* 'mq.example.org'"):
        defaults.identity(given(config=FILE), SILENT)
    assert defaults.identity(given(config=FILE, broker_name="mq"), SILENT).name == "mq"


def test_a_user_without_a_home_folder_needs_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home(_: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", no_home)

    with pytest.raises(BadPropertiesFile, match="storePathRootDir is missing, and its default '~/store' has no"):
        defaults.store_folder(given(config=FILE), SILENT)


@pytest.mark.parametrize(("option", "said", "broker_id"), [(None, None, 0), (None, 1, 1), (0, 1, 0), (2, None, 2)])
def test_the_id_of_a_slave_is_given_by_an_option_or_said_by_the_file(
    option: int | None, said: int | None, broker_id: int
) -> None:
    options = given(config=FILE, broker_name="mq", broker_id=option)

    assert defaults.identity(options, ConfigFile({}, (), broker_id=said)).broker_id == broker_id
