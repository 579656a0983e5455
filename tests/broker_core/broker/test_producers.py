"""The table of producers: each question is answered by its own index, and none keeps what has gone."""

from __future__ import annotations

from broker_core.broker.members import Member
from broker_core.broker.producers import Producers


def member(channel: str, client_id: str = "one", access_key: str = "alice") -> Member[str]:
    return Member(channel, client_id, 3, 409, 0, access_key)


def test_members_are_found_by_group_connection_client_and_account() -> None:
    producers: Producers[str] = Producers()
    producers.add("checkout", member("a"))
    producers.add("billing", member("a"))
    producers.add("billing", member("b", "two", "bob"))

    assert len(producers) == 2
    assert set(producers.of_group("billing")) == {"a", "b"}
    assert set(producers.groups_of_channel("a")) == {"checkout", "billing"}
    assert [each.channel for each in producers.of_client("one")] == ["a", "a"]
    assert set(producers.groups_of_account("bob")) == {"billing"}


def test_a_connection_is_one_member_whatever_it_says_later() -> None:
    producers: Producers[str] = Producers()
    producers.add("billing", member("a"))
    producers.add("billing", member("a", "two", "bob"))

    assert [each.client_id for each in producers.all()] == ["two"]
    assert not producers.of_client("one")
    assert not producers.groups_of_account("alice")


def test_a_group_counts_for_its_account_until_its_last_member_has_gone() -> None:
    producers: Producers[str] = Producers()
    for channel in ("a", "b"):
        producers.add("billing", member(channel))

    producers.remove("billing", "a")
    producers.remove("billing", "a")
    assert set(producers.groups_of_account("alice")) == {"billing"}

    producers.remove_all("b")
    assert not producers.groups_of_account("alice")


def test_nothing_is_left_of_connections_that_closed() -> None:
    producers: Producers[str] = Producers()
    for group in ("billing", "checkout"):
        producers.add(group, member("a"))

    producers.remove_all("a")

    assert (len(producers), list(producers.all())) == (0, [])
    left = [getattr(producers, name) for name in vars(producers)]
    assert left == [{}] * len(left)
