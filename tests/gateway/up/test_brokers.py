"""Several brokers of `make up`: their processes, what a new one begins with, and none with messages left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gateway.up.brokers import prepare_new, require_none_left_out
from gateway.up.config import UpConfig
from gateway.up.errors import CannotStart
from gateway.up.processes import Child, plan
from tests.support.stores import fill, opened

REDIS = {"GANTRY_REDIS_URL": "redis://127.0.0.1:1/0"}


def config(data: Path, **settings: str) -> UpConfig:
    return UpConfig.read({"GANTRY_DATA_DIR": str(data), **settings})


def children(data: Path, **settings: str) -> dict[str, Child]:
    return {child.name: child for child in plan(config(data, **REDIS, **settings), data).children}


def option(child: Child, name: str) -> str:
    return child.command[child.command.index(name) + 1]


def test_one_broker_has_the_name_server_in_its_process(tmp_path: Path) -> None:
    found = children(tmp_path)

    assert "namesrv" not in found
    assert option(found["broker"], "--namesrv-port") == "9876"
    assert option(found["broker"], "--broker-name") == "broker-a"


def test_of_several_brokers_each_has_its_port_and_folder_and_the_name_server_its_own_process(tmp_path: Path) -> None:
    found = children(tmp_path, GANTRY_BROKERS="3", GANTRY_BROKER_PORT="20911", GANTRY_BIND="0.0.0.0")

    brokers = [found[name] for name in ("broker-a", "broker-b", "broker-c")]
    assert [option(each, "--broker-port") for each in brokers] == ["20911", "20921", "20931"]
    assert [option(each, "--store") for each in brokers] == [
        str(tmp_path / name) for name in ("broker", "broker-b", "broker-c")
    ]
    assert {option(each, "--namesrv") for each in brokers} == {"127.0.0.1:9876"}
    assert {option(each, "--share") for each in brokers} == {"3"}
    assert option(found["namesrv"], "--port") == "9876"
    names = list(found)
    assert names.index("namesrv") < names.index("broker-a")


def test_a_broker_with_messages_is_not_left_out(tmp_path: Path) -> None:
    with opened(tmp_path / "broker-b") as store:
        fill(store, 1)
    opened(tmp_path / "broker-c").close()  # it never had one

    require_none_left_out(config(tmp_path, GANTRY_BROKERS="2"))
    with pytest.raises(CannotStart) as refused:
        require_none_left_out(config(tmp_path))
    require_none_left_out(config(tmp_path, GANTRY_BROKERS_LEFT_OUT="broker-b"))

    assert str(refused.value) == (
        f"{tmp_path}/broker-b has messages of a broker that GANTRY_BROKERS=1 would not start: set it to 2, or start "
        "without these messages by GANTRY_BROKERS_LEFT_OUT=broker-b"
    )


def test_replicas_of_one_name_have_ports_and_folders_and_a_controller_in_the_name_server(tmp_path: Path) -> None:
    found = children(tmp_path, GANTRY_REPLICAS="3", GANTRY_BROKER_PORT="20911", GANTRY_FLUSH="sync")

    replicas = [child for child in found.values() if child.kind == "broker"]
    assert [each.name for each in replicas] == ["replica-1", "replica-2", "replica-3"]
    assert [option(each, "--broker-port") for each in replicas] == ["20911", "20921", "20931"]
    assert [option(each, "--store") for each in replicas] == [str(tmp_path / each.name) for each in replicas]
    assert {option(each, "--broker-name") for each in replicas} == {"broker-a"}
    assert {option(each, "--flush") for each in replicas} == {"sync"}
    assert {option(each, "--share") for each in replicas} == {"3"}
    for each in replicas:
        wanted = {"enableControllerMode=true", "controllerAddr=127.0.0.1:9876", "minInSyncReplicas=2"}
        assert wanted <= set(each.command)
    assert {
        "enableControllerInNamesrv=true",
        "controllerClusterName=local",
        f"controllerStorePath={tmp_path}/controller",
    } <= set(found["namesrv"].command)
    assert list(found).index("namesrv") < list(found).index("replica-1")


def test_of_two_replicas_one_goes_on_alone(tmp_path: Path) -> None:
    assert "minInSyncReplicas=1" in children(tmp_path, GANTRY_REPLICAS="2")["replica-1"].command


def test_without_replicas_there_is_no_controller(tmp_path: Path) -> None:
    for settings in ({}, {"GANTRY_BROKERS": "2"}):
        words = [word for child in children(tmp_path, **settings).values() for word in child.command]
        assert not any("ontroller" in word or "InSync" in word for word in words)


def test_messages_of_a_single_broker_are_not_hidden_by_replicas_that_begin_empty(tmp_path: Path) -> None:
    with opened(tmp_path / "broker") as store:
        fill(store, 1)

    with pytest.raises(CannotStart) as refused:
        require_none_left_out(config(tmp_path, GANTRY_REPLICAS="3"))
    require_none_left_out(config(tmp_path, GANTRY_REPLICAS="3", GANTRY_BROKERS_LEFT_OUT="broker-a"))

    assert str(refused.value) == (
        f"{tmp_path}/broker has messages of a broker without replicas, which GANTRY_REPLICAS=3 would not start: start "
        "without that setting, choose another folder with GANTRY_DATA_DIR, or start without these messages by "
        "GANTRY_BROKERS_LEFT_OUT=broker-a"
    )


def test_a_replica_with_messages_is_not_left_out(tmp_path: Path) -> None:
    for name in ("replica-1", "replica-2", "replica-3"):
        with opened(tmp_path / name) as store:
            fill(store, 1)

    require_none_left_out(config(tmp_path, GANTRY_REPLICAS="3"))
    with pytest.raises(
        CannotStart, match=r"replica-3 has messages of a replica that GANTRY_REPLICAS=2 would not start"
    ):
        require_none_left_out(config(tmp_path, GANTRY_REPLICAS="2"))
    with pytest.raises(CannotStart, match=r"set it to 3, or .*LEFT_OUT=replica-1,replica-2,replica-3$"):
        require_none_left_out(config(tmp_path))
    require_none_left_out(config(tmp_path, GANTRY_REPLICAS="2", GANTRY_BROKERS_LEFT_OUT="replica-3"))


def test_replicas_have_topics_from_their_master_alone(tmp_path: Path) -> None:
    (tmp_path / "broker" / "config").mkdir(parents=True)
    (tmp_path / "broker" / "config" / "topics.json").write_text("{}")

    prepare_new(config(tmp_path, GANTRY_REPLICAS="2"))

    assert [path.name for path in tmp_path.iterdir()] == ["broker"]


def test_a_new_broker_begins_with_topics_groups_settings_and_accounts_of_the_first(tmp_path: Path) -> None:
    folder = tmp_path / "broker" / "config"
    folder.mkdir(parents=True)
    topics = {"orders": {"topicName": "orders"}, "broker-a": {"topicName": "broker-a"}}
    (folder / "topics.json").write_text(json.dumps({"topicConfigTable": topics, "deletedTopics": {}}))
    (folder / "subscriptionGroup.json").write_text('{"subscriptionGroupTable":{"shop":{"retryMaxTimes":3}}}')

    (folder / "plain_acl.yml").write_text("accounts: []")
    (folder / "acl").mkdir()
    (folder / "acl" / "shop.yml").write_text("accounts: [shop]")

    prepare_new(config(tmp_path, GANTRY_BROKERS="2"))

    made = tmp_path / "broker-b" / "config"
    assert list(json.loads((made / "topics.json").read_text())["topicConfigTable"]) == ["orders"]
    groups = json.loads((made / "subscriptionGroup.json").read_text())
    assert groups == {"subscriptionGroupTable": {"shop": {"retryMaxTimes": 3}}}
    assert (made / "plain_acl.yml").read_text() == "accounts: []"
    assert (made / "acl" / "shop.yml").read_text() == "accounts: [shop]"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broker", "broker-b"]
    # Of one that has run, nothing is replaced
    (folder / "topics.json").write_text("{}")
    prepare_new(config(tmp_path, GANTRY_BROKERS="2"))
    assert "orders" in (made / "topics.json").read_text()


def test_topics_that_cannot_be_read_are_named_before_anything_starts(tmp_path: Path) -> None:
    folder = tmp_path / "broker" / "config"
    folder.mkdir(parents=True)
    (folder / "topics.json").write_text("{")

    with pytest.raises(CannotStart, match=r"broker/config/topics\.json cannot be read"):
        prepare_new(config(tmp_path, GANTRY_BROKERS="2"))
