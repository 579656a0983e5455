"""Makes the states of a cluster, its groups and its topics from readings. Unknown is None, never zero.

Of ten thousand topics and five thousand groups few change within a second. Where the brokers tell which, only the
states of these are made anew, and of those that change by time alone: a lag grows older, a rate falls. All others are
carried along; only the time of their measurement moves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final, TypeVar

import msgspec

from broker_core.protocol.bodies.controller import NameState
from broker_core.protocol.topics import DEAD_LETTER_PREFIX, dead_letter_topic
from console.lag import group_state, topic_state
from console.lag.following import Changed
from console.lag.group_state import GroupStates
from console.lag.overview_state import OverviewStates
from console.lag.reading import LagReading
from console.lag.shapes import GroupState, LastKnown, OverviewState, TopicState
from console.lag.topic_state import TopicStates
from console.moments import rfc3339
from console.replicas.figures import ControllerFigures, DecidedFigures

State = TypeVar("State", GroupState, TopicState)
# What may still settle, as a trend over minutes, is looked at again once in so many steps.
_SETTLING_STEPS: Final = 10
# A broker may be read some steps after offsets were moved.
_MOVED_STEPS: Final = 4


@dataclass(frozen=True, slots=True)
class ClusterState:
    """The states of one second, to be published and stored."""

    overview: OverviewState
    groups: dict[str, GroupState]
    topics: dict[str, TopicState]
    changed: Changed | None = None
    """The names whose state is another one than a step before, but for its time; None if any may be."""
    decisions: Mapping[str, DecidedFigures] = field(default_factory=dict)
    """What controllers decided, by broker name; of names whose roles are fixed there is none."""
    decided: Mapping[str, NameState] = field(default_factory=dict)
    """The whole states of these names, as last told."""
    controllers: ControllerFigures | None = None
    """None where there are none."""


class StateBuilder:
    """Makes states from the readings of one cluster; remembers only what rates, trends and last known figures need."""

    def __init__(self) -> None:
        self._groups = GroupStates()
        self._topics = TopicStates()
        self._overview = OverviewStates()
        self._restored = LastKnown()
        self._reading: LagReading | None = None
        self._state: ClusterState | None = None
        # Of each topic its groups, of each group its topics; and the topics in which a lag changed in this step.
        self._lags: defaultdict[str, dict[str, int | None]] = defaultdict(dict)
        self._lags_of: dict[str, dict[str, int | None]] = {}
        self._touched: set[str] = set()
        # By group the topics of which a broker has no offset of it: what is stored there changes its lag.
        self._not_begun: dict[str, set[str]] = {}
        self._restless = Changed()
        self._settling = Changed()
        self._steps = 0
        self._moved: dict[str, int] = {}

    def begin_with(self, last: LastKnown) -> None:
        """Take over what `last_known` returned before this process started."""
        self._overview.last = self._overview.last or last.overview
        self._restored = last
        self._topics.begin_with(last.topics)
        self._groups.begin_with(last.groups)

    def last_known(self) -> LastKnown:
        """Return all last known figures."""
        if self._state is None:
            return self._restored
        groups = {name: group_state.last_known_of(each) for name, each in self._state.groups.items()}
        topics = {name: topic_state.last_known_of(each) for name, each in self._state.topics.items()}
        return LastKnown(
            overview=self._overview.last,
            topics={name: last for name, last in topics.items() if last is not None},
            groups={name: last for name, last in groups.items() if last is not None},
        )

    def note_moved(self, groups: Collection[str]) -> None:
        """Take notice that the offsets of groups were moved: in the next steps that is no consumption."""
        self._moved |= dict.fromkeys(groups, _MOVED_STEPS)

    def step(self, reading: LagReading) -> ClusterState:
        """Return the state that `reading` shows."""
        self._overview.see(reading)
        changed = self._changed_only(reading)
        self._state = self._whole(reading) if changed is None or self._moved else self._carried(reading, changed)
        self._moved = {name: steps - 1 for name, steps in self._moved.items() if steps > 1}
        self._reading = reading
        self._steps += 1
        return self._state

    def _changed_only(self, reading: LagReading) -> Mapping[str, Changed] | None:
        """Return what changed since the last reading, if nothing else differs; None if anything may."""
        before = self._reading
        if before is None or reading.changed is None or not reading.facts or reading.missing or before.missing:
            return None
        is_same = (
            reading.topics is before.topics
            and reading.groups is before.groups
            and reading.facts.keys() == before.facts.keys()
            and all(facts is before.facts[name] for name, facts in reading.facts.items())
            and (reading.lease_consumers is None) == (before.lease_consumers is None)
        )
        return reading.changed if is_same else None

    # All anew

    def _whole(self, reading: LagReading) -> ClusterState:
        self._groups.see(reading)
        self._groups.note_moved(self._moved)
        self._topics.see(reading)
        self._lags.clear()
        self._lags_of.clear()
        self._not_begun.clear()
        self._restless, self._settling = Changed(), Changed()
        groups = {name: self._group(reading, name) for name, group in reading.groups.items() if not group.is_built_in}
        topics = {name: self._topic(reading, name, groups) for name in reading.topics}
        for name, group in groups.items():
            group.dead_letters = _dead_letters_of(reading, name, topics)
        overview = self._overview.of(reading, groups, topics, self._groups.untimed)
        return ClusterState(overview, groups, topics)

    # Only what changed

    def _carried(self, reading: LagReading, changed: Mapping[str, Changed]) -> ClusterState:
        assert self._state is not None
        self._groups.see_changed(reading, changed)
        self._topics.see_changed(reading, changed)
        groups, topics = dict(self._state.groups), dict(self._state.topics)
        made = Changed()
        self._touched.clear()
        for name in self._due_groups(reading, changed):
            if name in groups:
                groups[name] = self._group(reading, name)
                groups[name].dead_letters = self._state.groups[name].dead_letters
                made.groups.add(name)
        for name in self._touched.union(self._due(reading, self._restless.topics, self._settling.topics), *(
            each.topics for each in changed.values()
        )):  # fmt: skip
            if name in topics:
                topics[name] = self._topic(reading, name, groups)
                made.topics.add(name)
                reader = name.removeprefix(DEAD_LETTER_PREFIX)
                if reader != name and reader in groups:
                    groups[reader].dead_letters = _dead_letters_of(reading, reader, topics)
                    made.groups.add(reader)
        differing = Changed(
            topics={name for name in made.topics if differ(self._state.topics[name], topics[name])},
            groups={name for name in made.groups if differ(self._state.groups[name], groups[name])},
        )
        self._measure_again(reading, groups, topics, made)
        overview = self._overview.of(reading, groups, topics, self._groups.untimed)
        return ClusterState(overview, groups, topics, differing)

    def _due_groups(self, reading: LagReading, changed: Mapping[str, Changed]) -> set[str]:
        due = self._due(reading, self._restless.groups, self._settling.groups)
        due.update(*(each.groups for each in changed.values()))
        stored = set().union(*(each.topics for each in changed.values()))
        due.update(name for name, topics in self._not_begun.items() if not topics.isdisjoint(stored))
        assert self._reading is not None
        now, before = reading.lease_consumers or {}, self._reading.lease_consumers or {}
        due.update(name for name in now.keys() | before.keys() if now.get(name) != before.get(name))
        return due

    def _due(self, _: LagReading, restless: AbstractSet[str], settling: AbstractSet[str]) -> set[str]:
        turn = self._steps % _SETTLING_STEPS
        return {*restless, *(name for name in settling if hash(name) % _SETTLING_STEPS == turn)}

    def _measure_again(
        self, reading: LagReading, groups: Mapping[str, GroupState], topics: Mapping[str, TopicState], made: Changed
    ) -> None:
        """Note on all that was not made anew that it was heard of at the time of the reading."""
        at = rfc3339(reading.at)
        moments: dict[frozenset[str], str] = {}

        def moment_of(brokers: Iterable[str]) -> str:
            names = frozenset(brokers)
            if names not in moments:
                moments[names] = rfc3339(min(reading.facts[name].followed_at for name in names))
            return moments[names]

        everywhere = moment_of(reading.facts)
        is_one = len(reading.facts) == 1
        for name, group in groups.items():
            if name not in made.groups:
                group.at = at
                if group.measured_at is not None:
                    holders = reading.facts if is_one else (b for b, f in reading.facts.items() if name in f.stats)
                    group.measured_at = everywhere if is_one else moment_of(holders)
        for name, topic in topics.items():
            if name not in made.topics and topic.measured_at is not None:
                topic.measured_at = everywhere if is_one else moment_of(reading.topics[name].configs)

    # One of them

    def _group(self, reading: LagReading, name: str) -> GroupState:
        before = None if self._state is None else self._state.groups.get(name)
        until = 0 if self._reading is None else self._reading.at
        made = self._groups.of(reading, reading.groups[name], before, until)
        self._note_lags(name, _lags_of(made))
        if topics := {queue.topic for queue in made.queues if queue.group_offset is None}:
            self._not_begun[name] = topics
        else:
            self._not_begun.pop(name, None)
        moves = made.lag is not None and bool(made.lag or made.in_rate or made.out_rate)
        settles = made.lag is not None and (made.in_rate is None or made.out_rate is None or made.lag_per_second != 0)
        _sort(name, self._restless.groups, self._settling.groups, moves=moves, settles=settles)
        return made

    def _note_lags(self, group: str, lags: dict[str, int | None]) -> None:
        before = self._lags_of.get(group, {})
        self._lags_of[group] = lags
        if lags == before:
            return
        for gone in before.keys() - lags.keys():
            del self._lags[gone][group]
        for topic, lag in lags.items():
            self._lags[topic][group] = lag
        self._touched.update(before, lags)

    def _topic(self, reading: LagReading, name: str, groups: Mapping[str, GroupState]) -> TopicState:
        before = None if self._state is None else self._state.topics.get(name)
        lags = self._lags.get(name, {})
        made = self._topics.of(reading, reading.topics[name], lags.values(), before)
        readers = (groups[reader] for reader in lags)
        if made.messages is not None and all(each.unknown_reason is None for each in readers if name in each.topics):
            made.out_rate = self._groups.topic_rate(reading, name)
        is_measured = made.messages is not None
        settles = is_measured and (made.in_rate is None or made.out_rate is None)
        moves = is_measured and bool(made.in_rate or made.out_rate)
        _sort(name, self._restless.topics, self._settling.topics, moves=moves, settles=settles)
        return made


def _sort(name: str, restless: set[str], settling: set[str], *, moves: bool, settles: bool) -> None:
    for kept, belongs in ((restless, moves), (settling, settles and not moves)):
        if belongs:
            kept.add(name)
        else:
            kept.discard(name)


def differ(before: State, now: State) -> bool:
    """Return whether two states differ in more than the time of their measurement."""
    moments = {"measured_at": None} | ({"at": ""} if isinstance(now, GroupState) else {})
    return msgspec.structs.replace(before, **moments) != msgspec.structs.replace(now, **moments)


def _dead_letters_of(reading: LagReading, group: str, topics: Mapping[str, TopicState]) -> int | None:
    """Return how many messages a group gave up; None while a broker that may hold some does not answer."""
    topic = topics.get(dead_letter_topic(group))
    if topic is None:
        return None if reading.missing or not reading.facts else 0
    return topic.messages


def _lags_of(group: GroupState) -> dict[str, int | None]:
    """Return the lag of a group in each of its topics."""
    lags: dict[str, int | None] = dict.fromkeys(group.topics, None if group.lag is None else 0)
    for queue in group.queues if group.lag is not None else ():
        lags[queue.topic] = (lags.get(queue.topic) or 0) + (queue.lag or 0)
    return lags
