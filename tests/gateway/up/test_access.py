"""`make up` with access control: an account for the gateway, and brokers that know it."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from broker_core.broker.access.files import AccessFiles
from gateway import env
from gateway.env import BadSetting
from gateway.up.access import ACCOUNT_VARIABLE, prepare_accounts
from gateway.up.config import UpConfig
from gateway.up.processes import Plan, plan


def config_of(data: Path, **settings: str) -> UpConfig:
    return UpConfig.read({"GANTRY_DATA_DIR": str(data), "GANTRY_ACL": "on", **settings})


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_first_start_makes_one_account_for_all_brokers(tmp_path: Path) -> None:
    file = prepare_accounts(config_of(tmp_path, GANTRY_BROKERS="2"))

    made = env.account("X", environ={"X": str(file)})
    assert made is not None
    assert len(made.secret_key) >= 32
    for folder in ("broker", "broker-b"):
        accounts = AccessFiles(tmp_path / folder / "config").read().accounts
        assert (accounts[made.access_key].secret_key, accounts[made.access_key].is_admin) == (made.secret_key, True)
        assert mode_of(tmp_path / folder / "config" / "plain_acl.yml") == 0o600
    assert mode_of(file) == 0o600


def test_what_is_there_stays(tmp_path: Path) -> None:
    file = prepare_accounts(config_of(tmp_path))
    before = file.read_bytes()
    accounts = tmp_path / "broker" / "config" / "plain_acl.yml"
    accounts.write_text("accounts: []\n")
    prepare_accounts(config_of(tmp_path))

    assert (file.read_bytes(), accounts.read_text()) == (before, "accounts: []\n")


def test_a_broker_with_files_of_its_own_gets_no_other(tmp_path: Path) -> None:
    (tmp_path / "broker" / "config" / "acl").mkdir(parents=True)
    prepare_accounts(config_of(tmp_path))

    assert not (tmp_path / "broker" / "config" / "plain_acl.yml").exists()


def test_processes_learn_the_account_and_brokers_the_switch(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    made = plan(config_of(tmp_path / "data"), run)
    (broker,) = (child for child in made.children if child.kind == "broker")

    assert "aclEnable=true" in broker.command
    assert made.environment[ACCOUNT_VARIABLE] == str(tmp_path / "data" / "tools.yml")
    assert not any("secret" in word for child in made.children for word in child.command)

    off = plan(UpConfig.read({"GANTRY_DATA_DIR": str(tmp_path / "off")}), run)
    assert settings_of(off) == [{"aclEnable=false"}], "a broker that saved the other would refuse everybody"
    assert not (tmp_path / "off" / "tools.yml").exists()


def settings_of(made: Plan) -> list[set[str]]:
    """Return the settings about accounts of each broker."""
    brokers = (child for child in made.children if child.kind == "broker")
    return [{word for word in child.command if word.startswith("acl")} for child in brokers]


def test_the_account_that_is_made_is_served_on_this_machine_alone(tmp_path: Path) -> None:
    made = plan(config_of(tmp_path / "data", GANTRY_BROKERS="2"), tmp_path)

    assert settings_of(made) == [{"aclEnable=true", "aclLocalAccounts=gantry-gateway", "aclLocalNetworks="}] * 2


def test_replicas_sign_with_an_account_that_all_of_them_have(tmp_path: Path) -> None:
    prepare_accounts(config_of(tmp_path, GANTRY_REPLICAS="2"))
    grown = config_of(tmp_path, GANTRY_REPLICAS="3")
    first = tmp_path / "replica-1" / "config" / "plain_acl.yml"
    first.write_text(first.read_text() + "- {accessKey: checkout-service, secretKey: a-long-random-text}\n")
    made = plan(grown, tmp_path)

    files = [AccessFiles(tmp_path / f"replica-{number}" / "config").read().accounts for number in (1, 2, 3)]
    assert {each["gantry-replicas"].is_admin for each in files} == {True}
    assert len({each["gantry-replicas"].secret_key for each in files}) == 1
    assert ["checkout-service" in each for each in files] == [True, False, True], "any replica may become the master"
    assert mode_of(tmp_path / "replica-3" / "config" / "plain_acl.yml") == 0o600
    local = "aclLocalAccounts=gantry-gateway,gantry-replicas"
    assert (
        settings_of(made) == [{"aclEnable=true", local, "aclLocalNetworks=", "aclReplicaAccount=gantry-replicas"}] * 3
    )
    one = plan(config_of(tmp_path / "one"), tmp_path)
    assert "gantry-replicas" not in AccessFiles(tmp_path / "one" / "broker" / "config").read().accounts
    assert not any("Replica" in word for words in settings_of(one) for word in words)


def test_networks_of_executors_are_named(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "tools.yml").write_text("accessKey: renamed-account\nsecretKey: a-secret-text\n")
    made = plan(config_of(tmp_path / "data", GANTRY_ACL_NETWORKS="10.20.0.0/16, fd00::7"), tmp_path)

    assert settings_of(made) == [
        {"aclEnable=true", "aclLocalAccounts=renamed-account", "aclLocalNetworks=10.20.0.0/16,fd00::7"}
    ]
    with pytest.raises(BadSetting, match="GANTRY_ACL_NETWORKS"):
        config_of(tmp_path, GANTRY_ACL_NETWORKS="everywhere")


def test_an_account_that_somebody_else_made_is_served_as_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ACCOUNT_VARIABLE, str(tmp_path / "own.yml"))
    made = plan(config_of(tmp_path / "data"), tmp_path)

    # What an earlier start has made stays in the brokers' files.
    assert settings_of(made) == [{"aclEnable=true", "aclLocalAccounts=gantry-gateway", "aclLocalNetworks="}]


@pytest.mark.parametrize("brokers", ["1", "3"])
def test_the_name_server_takes_changes_from_this_machine_and_named_networks(tmp_path: Path, brokers: str) -> None:
    def change_networks(**settings: str) -> list[str]:
        """Return what each process with a name server is told."""
        made = plan(UpConfig.read({"GANTRY_DATA_DIR": str(tmp_path), "GANTRY_BROKERS": brokers, **settings}), tmp_path)
        commands = [child.command for child in made.children if "--change-networks" in child.command]
        assert all("--namesrv-port" in each or "broker_core.namesrv" in each for each in commands)
        return [each[each.index("--change-networks") + 1] for each in commands]

    assert change_networks(GANTRY_ACL="on") == [""]
    assert change_networks(GANTRY_ACL="on", GANTRY_NAMESRV_NETWORKS="10.20.0.0/16,fd00::/8") == [
        "10.20.0.0/16,fd00::/8"
    ]
    assert change_networks(GANTRY_NAMESRV_NETWORKS="10.20.0.0/16") == ["10.20.0.0/16"]
    assert change_networks() == []  # as without access control: anybody may change everything
    with pytest.raises(BadSetting, match="GANTRY_NAMESRV_NETWORKS"):
        change_networks(GANTRY_NAMESRV_NETWORKS="everywhere")


@pytest.mark.parametrize(
    "text",
    ["", "accessKey: only", "- a list", "accessKey: [", "\x00", "{accessKey: the-gateway, secretKey: tiny}"],
)
def test_a_file_that_is_no_account_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "tools.yml"
    file.write_text(text)
    with pytest.raises(BadSetting, match="accessKey and secretKey"):
        env.account("GANTRY_ACL_ACCOUNT", environ={"GANTRY_ACL_ACCOUNT": str(file)})
