"""``/ws/v1/events``: the current state of any number of subjects, and each new one as it is published.

::

    > {"type":"subscribe","subjects":["groups:local","job:01J8…"]}
    < {"type":"state","subject":"groups:local","seq":8,"at":"…","data":{"at":"…","items":[…]}}
    < {"type":"delta","subject":"groups:local","seq":9,"at":"…","data":{"at":"…","changed":[…],"removed":[…],…}}
    < {"type":"denied","subject":"topics:mars","detail":"There is no cluster 'mars'."}
    > {"type":"subscribe","subjects":["groups:local"],"rows":{"groups:local":["billing","shipping"]}}
    > {"type":"unsubscribe","subjects":["groups:local"]}

Of `activity:` the first frame has the events that are kept, the oldest first, and each next one those that are new::

    > {"type":"subscribe","subjects":["activity:local"],"after":{"activity:local":1777622400017}}
    < {"type":"events","subject":"activity:local","seq":1777622400019,"after":1777622400017,"at":"…",
       "data":{"items":[…],"complete":true}}

A frame continues the one with the number `after`; `complete` is false where events in between are lost. A caller gets
those that it may read.

A state is complete, so the next one makes up for a missed one. For `groups:` and `topics:` the first frame is a state
and the next ones say what changed since the previous frame; where that is unknown, a state is sent instead. With `rows`
the frames hold these rows alone, whatever the size of the list; subscribing again replaces them, and a caller who may
not read all names gets those that it may read, without what they say of others. This socket asks no broker: it forwards
what the sampler and the jobs publish, and a new subscriber gets the last state that was kept.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from console import live
from console.accounts.explaining import refusal_of
from console.accounts.rights import ANYTHING, EVERYTHING, Kind, Resource, Unnamed
from console.lag.shapes import GroupState
from console.lag.shown import MAX_NAMES, anote_shown
from gateway.auth import Principal
from gateway.data.schemas import encode, invalid
from gateway.live.activity import Activities, Frame, is_activity
from gateway.live.existing import missing
from gateway.live.latest import latest, rows_of
from gateway.live.seen import seen_lists
from gateway.live.socket import LiveSocket
from gateway.problems import TOO_MANY_IN_FLIGHT, ProblemError

Resources: TypeAlias = tuple[Resource | Unnamed, ...]

MAX_SUBJECTS: Final = 500
# These show all names of a kind, so a caller limited to some is not enough; of the activity it gets what it may read.
_JOBS: Final[Resources] = (EVERYTHING, Resource("job", EVERYTHING))
_OF_KIND: Final[dict[str, Resources]] = {
    "overview": (EVERYTHING,),
    "groups": (Resource("group", EVERYTHING),),
    "topics": (Resource("topic", EVERYTHING),),
    "activity": (ANYTHING,),
    "job": _JOBS,
}
# Shown to whoever may read the cluster, as by the requests of the same names.
_OF_CLUSTER: Final = frozenset({"replicas", "controllers"})
_LISTS: Final[Mapping[str, Kind]] = {"groups": "group", "topics": "topic"}
_NOTE_SECONDS: Final = 30.0

Rows = Annotated[list[Annotated[str, Meta(min_length=1, max_length=255)]], Meta(max_length=MAX_NAMES)]
Subjects = Annotated[list[Annotated[str, Meta(min_length=1, max_length=400)]], Meta(max_length=MAX_SUBJECTS)]


class SubscribeFrame(Struct, forbid_unknown_fields=True):
    """Subscribe to these; of the lists in `rows` only to these rows, of activities only to what came `after`."""

    type: Literal["subscribe"]
    subjects: Subjects
    rows: dict[str, Rows] = {}
    after: dict[str, Annotated[int, Meta(ge=0, le=2**53)]] = {}


class UnsubscribeFrame(Struct, forbid_unknown_fields=True):
    """Unsubscribe from these."""

    type: Literal["unsubscribe"]
    subjects: Subjects


_NOTHING_SENT: Final = -1


class EventsConsumer(LiveSocket):
    """One socket of `/ws/v1/events`."""

    decoders: ClassVar = {
        "subscribe": msgspec.json.Decoder(SubscribeFrame),
        "unsubscribe": msgspec.json.Decoder(UnsubscribeFrame),
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._last_seq: dict[str, int] = {}
        self._rows: dict[str, tuple[str, ...]] = {}
        self._activities = Activities(lambda verb, resource: self.principal.may(verb, resource))
        self._noted_at = 0.0

    async def handle_frame(self, frame: SubscribeFrame | UnsubscribeFrame) -> None:
        """Begin or end subscriptions."""
        if isinstance(frame, UnsubscribeFrame):
            for subject in frame.subjects:
                await self._leave(subject)
            return
        for subject in frame.rows:
            if subject not in frame.subjects or subject.partition(":")[0] not in _LISTS:
                raise invalid("rows", f"{subject!r} is not one of the lists in `subjects`.")
        for subject in frame.after:
            if subject not in frame.subjects or not is_activity(subject):
                raise invalid("after", f"{subject!r} is not one of the activities in `subjects`.")
        allowed = {each for each in frame.subjects if self._may_watch(each, frame.rows.get(each))}
        unknown = await missing((each for each in allowed if each not in self._last_seq), self.principal)
        for subject in frame.subjects:
            rows = frame.rows.get(subject)
            if subject not in allowed:
                await self.send_frame(
                    {"type": "denied", "subject": subject, "detail": why_not(self.principal, subject)}
                )
            elif subject in unknown:
                await self.send_frame({"type": "denied", "subject": subject, "detail": unknown[subject]})
            elif subject not in self._last_seq:
                self._choose(subject, rows)
                self._activities.begin(subject, frame.after.get(subject))
                await self._join(subject)
            elif self._rows.get(subject) != (None if rows is None else tuple(rows)):
                self._choose(subject, rows)
                self._last_seq[subject] = _NOTHING_SENT
                await self._catch_up(subject)

    async def state(self, event: live.Event) -> None:
        """Forward a published state (called by Channels)."""
        subject = event["subject"]
        if self._last_seq.get(subject) not in (None, event["seq"]):
            self._last_seq[subject] = event["seq"]
            await self.send_frame(self._seen(event))

    async def delta(self, event: live.Event) -> None:
        """Send what changed of a list if the event follows the one sent last, else the list (called by Channels)."""
        subject, seq = event["subject"], event["seq"]
        sent = self._last_seq.get(subject)
        if sent is None or sent == seq:
            return
        if is_activity(subject):
            await self._tell(await self._activities.news(event, self.store))
            return
        text = await self._changes(event) if sent + 1 == seq else None
        if text is None:
            await self._catch_up(subject)
        elif self._last_seq.get(subject) == sent:
            self._last_seq[subject] = seq
            await self.send(text)
            await self._note_shown()

    async def disconnect(self, code: int) -> None:
        """Leave every subject."""
        for subject in list(self._last_seq):
            await self._leave(subject)

    def _may_watch(self, subject: str, rows: list[str] | None) -> bool:
        return may_watch(self.principal, subject) or (rows is not None and bool(self._readable(subject, rows)))

    def _readable(self, subject: str, rows: list[str]) -> list[str]:
        kind = _LISTS[subject.partition(":")[0]]
        return [name for name in rows if self.principal.may("read", Resource(kind, name))]

    def _choose(self, subject: str, rows: list[str] | None) -> None:
        self._noted_at = 0.0
        if rows is None:
            self._rows.pop(subject, None)
        else:
            self._rows[subject] = tuple(self._readable(subject, list(dict.fromkeys(rows))))

    async def _changes(self, event: live.Event) -> str | None:
        """Return the frame that says what changed; None if that is not known."""
        subject, rows = event["subject"], self._rows.get(event["subject"])
        if self._is_limited:
            seen = await seen_lists(self.store).of(subject, self.principal.rights, seq=event["seq"])
            delta = None if seen is None or seen.kept.seq != event["seq"] else seen.changes(rows)
            at = "" if seen is None else seen.kept.at
        else:
            changes = await latest(self.store).changes(event)
            if changes is None or rows is None:
                return None if changes is None else changes.text
            delta, at = changes.of(rows), changes.at
        if delta is None:
            return None
        return encode(live.event(subject, event["seq"], at, delta, kind="delta", plain=False)).decode()

    @property
    def _is_limited(self) -> bool:
        """Whether a row that the principal may read may tell of names that it may not."""
        return not (self.sight.is_whole("topic") and self.sight.is_whole("group"))

    async def _join(self, subject: str) -> None:
        if len(self._last_seq) >= MAX_SUBJECTS:
            raise ProblemError(TOO_MANY_IN_FLIGHT, f"A socket can watch at most {MAX_SUBJECTS} subjects.")
        # First join, then read: a state published in between arrives twice rather than not at all.
        self._last_seq[subject] = _NOTHING_SENT
        await self.channel_layer.group_add(live.channel_group(subject), self.channel_name)
        await self._note_shown()
        await self._catch_up(subject)

    async def _tell(self, frame: Frame | None) -> None:
        if frame is not None:
            await self.send_frame(frame)

    async def _catch_up(self, subject: str) -> None:
        if is_activity(subject):
            await self._tell(await self._activities.catch_up(subject, self.store))
            return
        if subject.partition(":")[0] not in _LISTS:
            event = await live.last_state(subject, store=self.store)
            if event is not None:
                await self.state(event)
            return
        if self._is_limited:
            seen = await seen_lists(self.store).of(subject, self.principal.rights)
            kept = None if seen is None else seen.kept
        else:
            seen, kept = None, await latest(self.store).whole(subject)
        if kept is None or self._last_seq.get(subject) in (None, kept.seq):
            return
        self._last_seq[subject] = kept.seq
        rows = self._rows.get(subject)
        whole = kept.items if rows is None else rows_of(kept, rows)
        items = whole if seen is None else seen.items(rows)
        await self.send_frame(live.event(subject, kept.seq, kept.at, {"at": kept.as_of, "items": items}, plain=False))

    async def _note_shown(self) -> None:
        """Let the sampler measure first what this socket shows, and publish the groups that it watches."""
        now = time.monotonic()
        if self._noted_at and now - self._noted_at < _NOTE_SECONDS:
            return
        self._noted_at = now
        for subject in self._last_seq:
            kind, _, rest = subject.partition(":")
            if kind == "group":
                cluster, _, name = rest.partition(":")
                await anote_shown(self.store, cluster, groups=[name])
            elif kind == "groups":
                await anote_shown(self.store, rest, groups=self._rows.get(subject, ()))
            elif kind == "topics":
                await anote_shown(self.store, rest, topics=self._rows.get(subject, ()))

    def _seen(self, event: live.Event) -> live.Event:
        """Return the event; of one group without the topics that the principal may not read."""
        if not event["subject"].startswith("group:") or self.sight.is_whole("topic"):
            return event
        state = live.read(event["data"], GroupState)
        return {**event, "data": None if state is None else msgspec.to_builtins(self.sight.group(state))}

    async def _leave(self, subject: str) -> None:
        self._rows.pop(subject, None)
        self._activities.leave(subject)
        if self._last_seq.pop(subject, None) is not None:
            await self.channel_layer.group_discard(live.channel_group(subject), self.channel_name)


def may_watch(principal: Principal, subject: str) -> bool:
    """Return whether the kind of the subject exists, and the principal may read it."""
    resources = _resources_of(subject)
    return bool(resources) and all(principal.may("read", each) for each in resources)


def why_not(principal: Principal, subject: str) -> str:
    """Return why the principal may not watch the subject."""
    hidden = [each for each in _resources_of(subject) if not principal.may("read", each)]
    return refusal_of(principal.rights, "read", hidden[0]) if hidden else f"There is no subject {subject[:60]!r}."


def _resources_of(subject: str) -> Resources:
    """Return what must be readable to watch a subject; nothing if there is no such subject."""
    kind, _, rest = subject.partition(":")
    if kind == "group":
        _, colon, group = rest.partition(":")
        return (Resource("group", group),) if colon and group else ()
    if kind in _OF_CLUSTER:
        cluster, _, broker = rest.partition(":")
        return (Resource("cluster", cluster),) if cluster and bool(broker) == (kind == "replicas") else ()
    if kind in _OF_KIND:
        return _OF_KIND[kind] if rest else ()
    return _JOBS if subject == live.JOBS else ()
