"""The register of groups: groups are created at first use, within limits."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.broker.config import TopicDefaults
from broker_core.broker.errors import BadConfigFile, GroupNotFound, GroupPaused, IllegalArgument, LimitReached
from broker_core.broker.groups import BUILT_IN, FILE_NAME, Groups
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.saving import JsonFile
from broker_core.protocol.bodies.groups import SubscriptionGroupConfig


def groups_in(folder: Path, *, limit: int = 100, auto_create: bool = True) -> Groups:
    groups = Groups(
        JsonFile(folder / FILE_NAME),
        defaults=TopicDefaults(auto_create_groups=auto_create),
        limits=BrokerLimits(groups=limit),
    )
    groups.load()
    return groups


def test_a_group_is_made_with_defaults_when_it_is_seen_first(tmp_path: Path) -> None:
    groups = groups_in(tmp_path)

    assert groups.get_or_create("billing", now=1) == SubscriptionGroupConfig("billing")
    assert groups.version.counter == 1
    groups.get_or_create("billing", now=2)
    assert groups.version.counter == 1


def test_groups_are_not_made_when_that_is_switched_off_but_for_the_broker_s_own(tmp_path: Path) -> None:
    groups = groups_in(tmp_path, auto_create=False)

    groups.get_or_create("CID_RMQ_SYS_TRANS", now=1)
    with pytest.raises(GroupNotFound, match="billing"):
        groups.get_or_create("billing", now=1)


def test_a_group_without_a_name_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(GroupNotFound):
        groups_in(tmp_path).get_or_create("", now=1)


def test_a_paused_group_does_not_consume(tmp_path: Path) -> None:
    groups = groups_in(tmp_path)
    groups.put(SubscriptionGroupConfig("billing", consume_enable=False), now=1)

    with pytest.raises(GroupPaused):
        groups.get_consuming("billing", now=2)


def test_one_group_too_many_is_refused(tmp_path: Path) -> None:
    groups = groups_in(tmp_path, limit=len(BUILT_IN) + 1)
    groups.get_or_create("billing", now=1)

    with pytest.raises(LimitReached, match="groups="):
        groups.get_or_create("audit", now=2)


def test_a_group_without_room_for_retries_is_made_and_named_in_the_log_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    groups = groups_in(tmp_path)
    for now in range(2):
        groups.get_or_create("g" * 121, now=now)
        groups.put(SubscriptionGroupConfig("g" * 120), now=now)

    assert [record.getMessage() for record in caplog.records] == [
        f"group={'g' * 121}: over 120 characters, so it has no retries"
    ]


def test_a_name_that_clients_would_not_send_is_refused_before_any_change(tmp_path: Path) -> None:
    groups = groups_in(tmp_path)

    with pytest.raises(IllegalArgument, match="has 256 characters, more than 255"):
        groups.put_all([SubscriptionGroupConfig("billing"), SubscriptionGroupConfig("g" * 256)], now=1)

    assert groups.find("billing") is None


def test_the_register_survives_a_restart(tmp_path: Path) -> None:
    before = groups_in(tmp_path)
    before.put(SubscriptionGroupConfig("billing", retry_max_times=3), now=5)
    before.save(before.text())

    after = groups_in(tmp_path)

    assert after.find("billing") == before.find("billing")
    assert after.version == before.version
    assert len(after) == len(BUILT_IN) + 1


def test_a_file_that_is_not_a_table_of_groups_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b'{"subscriptionGroupTable": [1]}')

    with pytest.raises(BadConfigFile):
        groups_in(tmp_path)


def use(groups: Groups, account: str, *names: str) -> None:
    for name in names:
        groups.get_or_create(name, now=1, account=account)


def test_an_account_creates_a_quarter_of_all_groups_and_remembers_it_over_a_restart(tmp_path: Path) -> None:
    groups = groups_in(tmp_path, limit=12)
    use(groups, "alice", "a1", "a2", "a3", "a1")
    with pytest.raises(LimitReached, match="limit groups=12 reached: one account may have 1 / 4 of them; group 'a4'"):
        use(groups, "alice", "a4")
    groups.save(groups.text())

    again = groups_in(tmp_path, limit=12)
    with pytest.raises(LimitReached):
        use(again, "alice", "a4")
    again.delete("a1", now=2)
    use(again, "alice", "a4")
    use(again, "bob", "b1")


def test_the_last_groups_are_created_by_administration_alone(tmp_path: Path) -> None:
    groups = groups_in(tmp_path, limit=20)
    use(groups, "", *(f"g{number}" for number in range(19 - len(groups))))
    with pytest.raises(LimitReached, match="limit groups=20 reached: the last 1 / 20 is for administrators; group 'x'"):
        use(groups, "", "x")
    groups.put(SubscriptionGroupConfig("x"), now=1)
