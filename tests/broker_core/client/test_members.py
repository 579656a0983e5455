"""The groups of one client."""

from __future__ import annotations

from broker_core.client.members import ClientMembers


def test_a_client_without_groups_is_nothing_to_tell_of() -> None:
    members = ClientMembers("client")
    assert not members

    members.add_producer("checkout")
    assert members
    members.remove_producer("checkout")
    assert not members


def test_a_group_is_left_with_its_last_producer() -> None:
    members = ClientMembers("client")
    members.add_producer("checkout")
    members.add_producer("checkout")

    assert members.remove_producer("checkout") is False
    assert [producer.group_name for producer in members.heartbeat().producer_data_set] == ["checkout"]
    assert members.remove_producer("checkout") is True
    assert members.heartbeat().producer_data_set == []
