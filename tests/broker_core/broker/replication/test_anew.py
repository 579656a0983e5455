from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from broker_core.broker import Broker
from broker_core.broker.config import FailoverSettings
from broker_core.broker.replication.anew import put_aside
from broker_core.broker.replication.identity import UsedElsewhere, WrongIdentity
from broker_core.store.epochs import EpochFile
from tests.support.other_broker import use_elsewhere
from tests.support.replica_group import ReplicaGroup, in_sync_set, replica_group
from tests.support.replicated import log_of
from tests.support.wait import eventually

NOW = datetime(2026, 11, 29, 10, 30, tzinfo=UTC)


def test_the_log_is_moved_with_what_counts_its_messages_and_nothing_else(tmp_path: Path) -> None:
    for name in (
        "commitlog/0",
        "index/1",
        "timer/db",
        "checkpoint",
        "config/topics.json",
        "config/consumerOffset.json",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "brokerIdentity").write_text("C#b#2")

    aside = put_aside(tmp_path, NOW)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["brokerIdentity", "config", aside.name]
    assert (aside / "commitlog/0").read_text() == "commitlog/0"
    assert (aside / "config/consumerOffset.json").exists()
    assert [path.name for path in (tmp_path / "config").iterdir()] == ["topics.json"]


def test_a_second_time_leaves_the_first_alone(tmp_path: Path) -> None:
    (tmp_path / "checkpoint").write_text("1")
    first = put_aside(tmp_path, NOW)
    (tmp_path / "checkpoint").write_text("2")

    second = put_aside(tmp_path, NOW.replace(minute=31))

    assert ((first / "checkpoint").read_text(), (second / "checkpoint").read_text()) == ("1", "2")


async def test_a_replica_of_another_history_begins_anew_and_copies_all(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        await group.send(master, b"kept")
        number = next(each for each, broker in group.brokers.items() if broker is not master)
        slave = group.brokers[number].store
        await eventually(lambda: slave.confirmed_log_offset == master.store.appended_log_offset)
        await stop_with_another_history(group, number)
        await eventually(lambda: len(in_sync_set(master)) == 1)
        await group.send(master, b"more")

        hopeless = await group.start(number)
        await hopeless.failed()
        assert hopeless.begins_anew
        await group.stop(number)
        put_aside(hopeless.components.config.store.folder, NOW)
        returned = await group.start(number)

        await eventually(lambda: len(in_sync_set(master)) == 2)
        assert log_of(returned.store) == log_of(master.store)


async def stop_with_another_history(group: ReplicaGroup, number: int) -> None:
    """Stop a replica, and make its log one of an epoch that its master never had."""
    folder = group.brokers[number].components.config.store.folder
    await group.stop(number)
    (folder / "epochFileCheckpoint").unlink()
    (folder / "epochFileCheckpoint.bak").unlink()
    EpochFile(folder).add(77, 0)


async def test_a_folder_that_another_broker_used_is_refused_until_its_epochs_are_removed(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        await group.send(master, b"kept")
        number = next(each for each, broker in group.brokers.items() if broker is not master)
        config = group.brokers[number].components.config
        await group.stop(number)
        # A broker without controllers leaves it alone
        with pytest.raises(WrongIdentity, match="enableControllerMode is off"):
            await Broker.open(replace(config, failover=FailoverSettings()))
        # When another one has not, then the replica does not start, however often it is tried
        use_elsewhere(config.store)
        for _ in range(2):
            with pytest.raises(UsedElsewhere, match="its log ends at"):
                await group.start(number)
        # When nobody needs what the other one took, then it copies all anew
        for name in ("epochFileCheckpoint", "epochFileCheckpoint.bak"):
            (config.store.folder / name).unlink()
        await eventually(lambda: len(in_sync_set(master)) == 1)
        hopeless = await group.start(number)
        await hopeless.failed()
        await group.stop(number)
        put_aside(config.store.folder, NOW)
        returned = await group.start(number)
        await eventually(lambda: len(in_sync_set(master)) == 2)
        assert log_of(returned.store) == log_of(master.store)
