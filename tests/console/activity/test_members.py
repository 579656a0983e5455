"""Requirements of `console.activity.members`: who joined and left, and never because a broker is silent."""

from __future__ import annotations

from console.activity.brokers import SETTLE_MS, BrokersSeen
from console.activity.members import MembersSeen
from tests.console.activity.readings import Scene

SETTLED = SETTLE_MS / 1000


class Followed:
    """The brokers and members of a scene."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.brokers = BrokersSeen()
        self.members = MembersSeen()

    def after(self, seconds: float = 1) -> list[tuple[str, str]]:
        """Return the kinds of the events of a moment, with the client or the broker."""
        reading = self.scene.after(seconds)
        found = self.brokers.step(reading)
        found += self.members.step(reading, self.brokers.unsettled(reading.at))
        return [(each.kind, each.client.client_id if each.client else each.broker or "") for each in found]


def test_who_is_there_at_the_first_round_did_not_join() -> None:
    scene = Scene()
    scene.connect("broker-a", "billing", "one")
    assert Followed(scene).after() == []


def test_a_client_joins_and_leaves() -> None:
    scene = Scene()
    followed = Followed(scene)
    scene.connect("broker-a", "billing", "one")
    followed.after()
    scene.connect("broker-a", "billing", "one", "two")
    reading = scene.after(1)
    (joined,) = followed.members.step(reading, frozenset())
    assert (joined.kind, joined.group) == ("client_joined", "billing")
    assert joined.client is not None
    assert (joined.client.address, joined.client.language, joined.client.version) == (
        "10.0.0.7:50211",
        "JAVA",
        "V4_9_8",
    )
    scene.connect("broker-a", "billing", "two")
    assert followed.after() == []
    assert followed.after(2) == [("client_left", "one")]
    # And the last one, whose group has no members then
    scene.connect("broker-a", "billing")
    followed.after()
    assert followed.after(2) == [("client_left", "two")]
    # And a group that is new
    scene.connect("broker-a", "shipping", "three")
    assert followed.after() == [("client_joined", "three")]


def test_a_client_that_connects_anew_within_a_moment_did_not_leave() -> None:
    scene = Scene()
    scene.connect("broker-a", "billing", "one")
    followed = Followed(scene)
    followed.after()
    scene.connect("broker-a", "billing")
    assert followed.after() == []
    scene.connect("broker-a", "billing", "one")
    assert followed.after(1) == followed.after(10) == []


def test_a_broker_that_is_killed_is_one_event_and_its_clients_did_not_leave() -> None:
    scene = Scene()
    scene.connect("broker-a", "billing", "one", "two")
    followed = Followed(scene)
    followed.after()
    scene.silent["broker-a"] = "refused the connection"
    assert followed.after() == [("broker_went", "broker-a")]
    assert followed.after(3600) == []
    # When it is back it knows no client; one of them connects again, the other one never
    scene.silent.clear()
    scene.restart("broker-a")
    assert followed.after() == [("broker_restarted", "broker-a")]
    scene.connect("broker-a", "billing", "one")
    assert followed.after(30) == []
    assert followed.after(SETTLED) == [("client_left", "two")]


def test_a_restart_that_no_round_noticed_is_one_event_too() -> None:
    scene = Scene()
    scene.connect("broker-a", "billing", "one")
    followed = Followed(scene)
    followed.after()
    scene.restart("broker-a")
    assert followed.after() == [("broker_restarted", "broker-a")]
    assert followed.after(5) == []
    scene.connect("broker-a", "billing", "one", "two")
    assert followed.after(20) == [("client_joined", "two")]
    assert followed.after(SETTLED) == []


def test_of_two_brokers_one_that_names_a_client_is_enough() -> None:
    scene = Scene()
    scene.add("broker-b")
    followed = Followed(scene)
    followed.after()
    scene.connect("broker-a", "billing", "one")
    assert followed.after() == [("client_joined", "one")]
    scene.connect("broker-b", "billing", "one")
    assert followed.after() == []
    scene.connect("broker-a", "billing")
    assert [followed.after(1), followed.after(5)] == [[], []]
    # And a silent one does not say that it left
    scene.silent["broker-b"] = "silent"
    assert followed.after() == [("broker_went", "broker-b")]
    assert followed.after(600) == []
    scene.silent.clear()
    scene.connect("broker-b", "billing")
    assert followed.after() == [("broker_came", "broker-b")]
    assert followed.after(SETTLED) == [("client_left", "one")]


def test_of_a_broker_that_is_asked_group_by_group_the_first_answer_is_no_event() -> None:
    # Given a broker of Apache RocketMQ, whose groups are asked one after the other
    scene = Scene()
    scene.add("broker-a", tells_all=False)
    scene.list_groups("broker-a", billing=True, shipping=True)
    scene.connect("broker-a", "billing", "one")
    followed = Followed(scene)
    assert followed.after() == []
    scene.connect("broker-a", "shipping", "two")
    assert followed.after() == []
    # Then a group that was made since has none to begin with
    scene.list_groups("broker-a", billing=True, shipping=True, fresh=True)
    scene.connect("broker-a", "fresh", "three")
    assert followed.after() == [("client_joined", "three")]
    # And members of a group that was deleted have left it
    scene.list_groups("broker-a", billing=True)
    del scene.facts["broker-a"].members["shipping"]
    followed.after()
    assert followed.after(2) == [("client_left", "two")]


def test_a_broker_that_was_silent_from_the_first_round_on_comes_after_a_while() -> None:
    scene = Scene(silent={"broker-a": "silent"})
    followed = Followed(scene)
    assert [followed.after(1), followed.after(20)] == [[], []]
    scene.silent.clear()
    scene.connect("broker-a", "billing", "one")
    assert followed.after() == [("broker_came", "broker-a")]


def test_a_name_server_that_is_silent_and_answers_again() -> None:
    scene = Scene()
    followed = Followed(scene)
    followed.after()
    scene.name_server_reason = "refused the connection"
    assert followed.after() == [("name_server_went", "")]
    assert followed.after() == []
    scene.name_server_reason = None
    assert followed.after() == [("name_server_came", "")]
