"""Planted defects: each a line that is wrong, by name. The simulation has to find them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

import pytest

from broker_core.broker.replication import following, identity, in_sync, lease, mastership, rejoin, replica
from broker_core.broker.replication.messages import Accepted
from broker_core.controller import electing, hearing, replicas, set_back
from broker_core.controller.commands import AlterSet, Elect
from broker_core.protocol.bodies.controller import MasterLife, NameState
from broker_core.protocol.ha_epochs import EpochStart
from broker_core.store import epochs, recovery
from broker_core.store import following as store_following
from tests.broker_core.replication.simulation import controller
from tests.broker_core.replication.simulation.disk import DiskStore

Plant = Callable[[pytest.MonkeyPatch], None]


def _election_resets_the_set(patch: pytest.MonkeyPatch) -> None:
    """RocketMQ 5.x does it: the new master alone."""
    right = electing.elect

    def wrong(state: NameState, command: Any) -> tuple[NameState, str]:
        after, why = right(state, command)
        assert after.master is not None
        return replace(after, in_sync=[after.master.id], set_version=after.set_version + 1), why

    patch.setitem(replicas._RULES, Elect, wrong)


def _shrink_counts_before_commit(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(in_sync, "effective_set", lambda committed, proposed: tuple(sorted(proposed or committed)))


def _expansion_counts_after_commit(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(in_sync, "effective_set", lambda committed, _: tuple(sorted(committed)))


def _same_epoch(patch: pytest.MonkeyPatch) -> None:
    """A restarted master goes on in its epoch."""

    def wrong(view: NameState, me: MasterLife) -> bool:
        return view.master is not None and view.master.id == me.id

    patch.setattr(replica, "names_me", wrong)


def _confirm_end(patch: pytest.MonkeyPatch) -> None:
    """Confirm jumps to the own end at take-over."""
    right = mastership.Mastership.__init__

    def wrong(self: mastership.Mastership, me: Any, view: Any, store: Any, limits: Any, now: float) -> None:
        store.set_confirm(store.whole_end)
        right(self, me, view, store, limits, now)

    patch.setattr(mastership.Mastership, "__init__", wrong)


def _cut_min(patch: pytest.MonkeyPatch) -> None:
    def wrong(own: Iterable[EpochStart], own_end: int, master: Iterable[EpochStart], master_end: int) -> int:
        return min(own_end, master_end)

    patch.setattr(rejoin, "cut_point", wrong)


def _old_stream_goes_on(patch: pytest.MonkeyPatch) -> None:
    """A new master goes on following."""
    right = replica.Replica._take_over

    def wrong(self: replica.Replica, view: NameState, now: float) -> Any:
        kept, self.following = self.following, None
        effects = right(self, view, now)
        self.following = kept
        return effects

    patch.setattr(replica.Replica, "_take_over", wrong)


def _silent_member_is_left_out(patch: pytest.MonkeyPatch) -> None:
    """Confirm passes a member that has no connection."""

    def wrong(confirm: int, acks: Iterable[int | None]) -> int:
        return max(confirm, min((each for each in acks if each is not None), default=confirm))

    patch.setattr(in_sync, "confirm_of", wrong)


def _joins_behind_confirm(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(in_sync, "may_join", lambda acked, *_: acked is not None)


def _unclean_is_not_told(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(identity, "stays_unclean", lambda *_: False)


def _forget_unclean(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(identity, "stays_unclean", lambda _, was_power_lost: was_power_lost)


def _alter_set_without_life(patch: pytest.MonkeyPatch) -> None:
    right = replicas._RULES[AlterSet]

    def wrong(state: NameState, command: AlterSet) -> Any:
        known = tuple(
            (each, state.replicas[each].life if each in state.replicas else "") for each, _ in command.members
        )
        return right(state, replace(command, members=known))

    patch.setitem(replicas._RULES, AlterSet, wrong)


def _elect_without_life(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(electing, "_is_in_life", lambda state, each: each.id in state.replicas)


def _queues_are_not_numbered_anew(patch: pytest.MonkeyPatch) -> None:
    """Queue offsets at take-over count what is confirmed only."""
    right = DiskStore.finish_tail

    def wrong(self: DiskStore) -> None:
        right(self)
        counts = [0] * len(self.next_offsets)
        for unit in filter(None, self.disk.log[: self.confirm]):
            counts[unit.queue] = unit.queue_offset + 1
        self.next_offsets = counts

    patch.setattr(DiskStore, "finish_tail", wrong)


def _lease_from_the_answer_on(patch: pytest.MonkeyPatch) -> None:
    """A late answer lengthens the lease."""
    patch.setattr(lease, "lease_end", lambda sent_at, grant: sent_at + grant + 3.0)


def _grant_beyond_validity(patch: pytest.MonkeyPatch) -> None:
    """Whoever once led grants on."""
    patch.setattr(controller, "granted", lambda leading, _: 2.5 if leading.lead is not None else 0.0)


def _lead_from_the_answer_on(patch: pytest.MonkeyPatch) -> None:
    """A lead is valid for longer than the engine keeps it."""
    patch.setattr(controller, "valid_until", lambda began: began + 6.0)


def _half_records_are_confirmed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(DiskStore, "safe_end", property(lambda self: self.end))


def _keep_alive_alone(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(controller, "is_own", lambda _: True)


def _grant_while_unsettled(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(controller, "must_not_grant", lambda _, is_set_back: is_set_back)


def _elect_without_lead(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(controller, "may_elect", lambda *_: True)


def _lead_is_given_up_at_once(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(controller, "granted_seconds", lambda *_: 0.0)


def _dead_before_own_start(patch: pytest.MonkeyPatch) -> None:
    right = hearing.Hearing.why_dead

    def wrong(self: hearing.Hearing, name: str, replica: int, life: str, now: float) -> str | None:
        started, self._started = self._started, float("-inf")
        try:
            return right(self, name, replica, life, now)
        finally:
            self._started = started

    patch.setattr(hearing.Hearing, "why_dead", wrong)


def _adopt_the_next_epoch(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(set_back, "ADOPTED_EPOCHS", 0)


def _set_back_is_not_seen(patch: pytest.MonkeyPatch) -> None:
    """A restored engine is gone on from, whatever replicas know."""
    patch.setattr(replicas, "is_set_back", lambda *_: False)


def _take_over_numbers_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(store_following, "raise_next_offsets", lambda _: None)


def _copy_is_not_told_of_queues(patch: pytest.MonkeyPatch) -> None:
    """It begins those at 0 of which it gets no message."""
    right = following.Following.exchanged

    def wrong(self: following.Following, link: int, answer: Any, now: float) -> Any:
        told = replace(answer, queue_ends={}) if isinstance(answer, Accepted) else answer
        return right(self, link, told, now)

    patch.setattr(following.Following, "exchanged", wrong)


def _epochs_stay_behind_a_cut(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(epochs.EpochFile, "cut", lambda *_: None)


def _recovery_shows_all(patch: pytest.MonkeyPatch) -> None:
    """A replica that is opened shows what nobody confirmed."""
    right = recovery._dispatch_until
    patch.setattr(recovery, "_dispatch_until", lambda _, *others: right(None, *others))


BY_CHANCE: Final[dict[str, Plant]] = {
    "election resets the set": _election_resets_the_set,
    "a shrink counts before it is decided": _shrink_counts_before_commit,
    "an expansion counts after it is decided": _expansion_counts_after_commit,
    "a restarted master goes on in its epoch": _same_epoch,
    "confirm jumps to the own end at take-over": _confirm_end,
    "the cut point is the smaller end": _cut_min,
    "a new master goes on following": _old_stream_goes_on,
    "confirm passes a member that is gone": _silent_member_is_left_out,
    "a replica joins behind the confirm offset": _joins_behind_confirm,
    "queues are numbered over confirmed records only": _queues_are_not_numbered_anew,
    "half records are acknowledged": _half_records_are_confirmed,
    "a restored engine is gone on from": _set_back_is_not_seen,
}
"""Found in random runs."""

ON_REAL_STORES: Final[dict[str, Plant]] = {
    "queues are not numbered at take-over": _take_over_numbers_nothing,
    "epochs stay behind a cut": _epochs_stay_behind_a_cut,
    "recovery dispatches what is not confirmed": _recovery_shows_all,
}
"""Found in random runs on real stores."""

DIRECTED: Final[dict[str, Plant]] = {
    "an unclean start is not told": _unclean_is_not_told,
    "an unclean start is forgotten at the second crash": _forget_unclean,
    "the life is not looked at when the set is altered": _alter_set_without_life,
    "the life is not looked at in an election": _elect_without_life,
    "the grant is longer than the lead": _grant_beyond_validity,
    "the lead is longer than the engine keeps it": _lead_from_the_answer_on,
    "the lease begins late": _lease_from_the_answer_on,
    "an answered keep-alive renews the lead": _keep_alive_alone,
    "a lease is granted while an election is unsettled": _grant_while_unsettled,
    "the text of the lead is not compared": _elect_without_lead,
    "silence counts from before the own start": _dead_before_own_start,
    "the lead is given up while a grant runs": _lead_is_given_up_at_once,
    "an adopted epoch is the next one": _adopt_the_next_epoch,
    "a copy is not told of the queues before it": _copy_is_not_told_of_queues,
}
"""Each found by its own schedule (`schedules.py`)."""
