"""Roles: who watches is told at once and at each change."""

from __future__ import annotations

from broker_core.broker.role import Role, RoleKind, Roles


def test_the_id_of_a_broker_says_what_it_is_without_automatic_failover() -> None:
    assert Role.of_id(0) == Role(RoleKind.MASTER, 0, None, None)
    assert Role.of_id(0).is_master
    assert Role.of_id(3) == Role(RoleKind.SLAVE, 3, None, None)
    assert not Role.of_id(3).is_master


def test_a_watcher_is_told_the_present_role_and_each_other_one() -> None:
    roles, seen = Roles(Role.of_id(1)), list[Role]()
    roles.watch(seen.append)
    new = Role(RoleKind.MASTER, 0, None, 5)
    roles.become(new)
    roles.become(new)
    assert seen == [Role.of_id(1), new]
    assert roles.changes == 1
    assert roles.now is new


def test_a_slave_follows_a_master_and_a_master_nobody() -> None:
    roles = Roles(Role.of_id(1))
    roles.follow("127.0.0.1:10911")
    assert roles.now == Role(RoleKind.SLAVE, 1, "127.0.0.1:10911")
    assert roles.changes == 0
    roles.become(Role.of_id(0))
    roles.follow("127.0.0.1:10911")
    assert roles.now == Role.of_id(0)
