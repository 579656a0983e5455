"""``/ws/v1/lag``: the lag of some groups at a chosen interval: first all of them, then those that changed.

::

    > {"type":"watch","groups":["billing","ship-*"],"interval_ms":1000,"detail":"queue"}
    < {"type":"snapshot","seq":1,"at":"…","groups":[{"group":"billing","topics":["orders"],"lag":120,…,"queues":[…]}]}
    < {"type":"delta","seq":2,"at":"…","groups":[…],"removed":["ship-3"]}
    < {"type":"unknown","group":"ship-7","reason":"broker_unreachable"}
    > {"type":"resume","session":"…","last_seq":2}

A group whose lag is unknown has its own frame, when that becomes so or its reason changes, and is in no snapshot; a lag
of 0 is measured. The figures come from the sampler, which reads them once for all clients.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from console import live
from console.clusters.services import find_address
from console.lag.shapes import GroupFigures, GroupQueue, GroupState, GroupSummary
from console.moments import Moment
from gateway.live.latest import Groups, latest
from gateway.live.shown import HeldViews, Shown
from gateway.live.socket import LiveSocket
from gateway.problems import NOT_FOUND, ProblemError

_MAX_PATTERNS: Final = 200
# A state that arrives a little early still counts for its second.
_SLACK_SECONDS: Final = 0.2

Patterns = Annotated[list[Annotated[str, Meta(min_length=1, max_length=255)]], Meta(max_length=_MAX_PATTERNS)]


class LastSeen(Struct, forbid_unknown_fields=True):
    """The last frame that a client saw, in an earlier session."""

    session: Annotated[str, Meta(max_length=64)]
    last_seq: Annotated[int, Meta(ge=0)]


class WatchFrame(Struct, forbid_unknown_fields=True):
    """Watch these groups instead of those watched before, if possible from the last frame that was seen."""

    type: Literal["watch"]
    groups: Patterns
    cluster: str = "local"
    interval_ms: Annotated[int, Meta(ge=1000, le=3_600_000)] = 1000
    detail: Literal["group", "queue"] = "group"
    after: LastSeen | None = None

    def is_of_same(self, other: WatchFrame | None) -> bool:
        """Return whether both watch the same in the same detail."""
        return other is not None and (self.cluster, self.groups, self.detail) == (
            other.cluster, other.groups, other.detail,
        )  # fmt: skip


class ResumeFrame(Struct, forbid_unknown_fields=True):
    """Go on after the frame `last_seq` of a session (by default this one), or else send a snapshot now."""

    type: Literal["resume"]
    session: Annotated[str, Meta(max_length=64)] | None = None
    last_seq: Annotated[int, Meta(ge=0)] | None = None


class WatchedGroup(GroupFigures, kw_only=True):
    """A group in a snapshot; it has `queues` if `detail` is "queue"."""

    name: str = msgspec.field(name="group")
    queues: list[GroupQueue] | UnsetType = UNSET


class SnapshotFrame(Struct, frozen=True, kw_only=True, tag_field="type", tag="snapshot"):
    """The groups whose lag is known."""

    seq: int
    at: Moment
    groups: list[WatchedGroup]
    reason: Literal["not_kept"] | UnsetType = UNSET
    """Why it is not what came after the frame to go on from: that frame is not kept any more."""


class DeltaFrame(Struct, frozen=True, kw_only=True, tag_field="type", tag="delta"):
    """Groups that are new, changed or known again since the frame with the previous number, and those that are gone."""

    seq: int
    at: Moment
    groups: list[WatchedGroup]
    removed: list[str]


class UnknownFrame(Struct, frozen=True, kw_only=True, tag_field="type", tag="unknown"):
    """A group whose lag is unknown, or a pattern that matches no sampled group."""

    group: str
    reason: str


class View(Struct, frozen=True):
    """What a client was told: figures by the group's name, and reasons where they are unknown."""

    known: dict[str, WatchedGroup]
    unknown: dict[str, str]

    def lacks_of(self, before: View) -> list[str]:
        """Return the groups of the view before that are not in this one, known or unknown."""
        return [
            name for name in (*before.known, *before.unknown) if name not in self.known and name not in self.unknown
        ]


_held: Final[HeldViews[View, WatchFrame]] = HeldViews()


class LagConsumer(LiveSocket):
    """One socket of `/ws/v1/lag`."""

    decoders: ClassVar = {"watch": msgspec.json.Decoder(WatchFrame), "resume": msgspec.json.Decoder(ResumeFrame)}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._watched: WatchFrame | None = None
        self._before: View | None = None
        self._kept: Shown[View, WatchFrame] | None = None
        self._is_late = False
        self._seq = 0
        self._sent_at = 0.0

    async def handle_frame(self, frame: WatchFrame | ResumeFrame) -> None:
        """Start watching, or go on with what was watched."""
        self._before, self._is_late = None, False
        if isinstance(frame, WatchFrame):
            await self._watch(frame)
            if frame.after is not None:
                kept = _held.take(frame.after.session, self.principal.credential)
                self._continue(kept if kept and frame.is_of_same(kept.watched) else None, frame.after.last_seq)
        else:
            await self._go_on(frame)
        if self._watched is not None:
            await self._send_present(self._watched)

    async def _watch(self, frame: WatchFrame) -> None:
        await self._leave()
        self._watched = frame
        self._kept = Shown(self.principal.credential, frame)
        group = live.channel_group(live.groups(frame.cluster))
        await self.channel_layer.group_add(group, self.channel_name)

    async def _go_on(self, frame: ResumeFrame) -> None:
        """Take up the view of the frame to go on from, if it is kept; watch what its session watched."""
        if frame.last_seq is None and frame.session is None:
            return
        kept = self._kept
        if frame.session not in (None, self.session):
            kept = _held.take(frame.session or "", self.principal.credential)
        if kept is not None and kept.watched is not None and kept is not self._kept:
            await self._watch(kept.watched)
        if self._watched is None:
            raise ProblemError(NOT_FOUND, "The session is not kept any more, or never was: say what to watch.")
        self._continue(kept, -1 if frame.last_seq is None else frame.last_seq)

    def _continue(self, kept: Shown[View, WatchFrame] | None, last_seq: int) -> None:
        self._before = None if kept is None else kept.views.get(last_seq)
        self._is_late = self._before is None
        if self._before is not None:
            self._seq = last_seq

    async def state(self, event: live.Event) -> None:
        """Send what the published list changes (called by Channels)."""
        watched = self._due(event)
        if watched is None:
            return
        groups = await latest(self.store).groups(event["subject"], seq=event["seq"])
        if groups is not None:
            await self._send(watched, groups)

    async def delta(self, event: live.Event) -> None:
        """Send what the published delta changes (called by Channels)."""
        await self.state(event)

    async def disconnect(self, code: int) -> None:
        """Stop watching; what was shown is held for a while."""
        if self._kept is not None and self._kept.views:
            _held.hold(self.session, self._kept)
        await self._leave()

    def _due(self, event: live.Event) -> WatchFrame | None:
        """Return the watch if the event is about it and the last frame is old enough."""
        watched = self._watched
        if watched is None or event["subject"] != live.groups(watched.cluster):
            return None
        is_due = time.monotonic() - self._sent_at + _SLACK_SECONDS >= watched.interval_ms / 1000
        return watched if is_due else None

    async def _leave(self) -> None:
        if self._watched is not None:
            group = live.channel_group(live.groups(self._watched.cluster))
            await self.channel_layer.group_discard(group, self.channel_name)
            self._watched = None

    async def _send_present(self, watched: WatchFrame) -> None:
        groups = await latest(self.store).groups(live.groups(watched.cluster))
        if groups is not None:
            await self._send(watched, groups)
            return
        is_known = await find_address(watched.cluster) is not None
        reason = "not_sampled" if is_known else f"no cluster is named {watched.cluster!r}"
        for pattern in watched.groups:
            await self.send_frame(UnknownFrame(group=pattern, reason=reason))

    async def _send(self, watched: WatchFrame, groups: Groups) -> None:
        self._sent_at = time.monotonic()
        view = await self._view(watched, groups)
        before, self._before = self._before, view
        self._seq += 1
        if self._kept is not None:
            self._kept.add(self._seq, view)
        if before is None:
            why: Literal["not_kept"] | UnsetType = "not_kept" if self._is_late else UNSET
            self._is_late = False
            await self.send_frame(
                SnapshotFrame(seq=self._seq, at=groups.at, groups=list(view.known.values()), reason=why)
            )
        else:
            changed = [group for name, group in view.known.items() if before.known.get(name) is not group]
            await self.send_frame(
                DeltaFrame(seq=self._seq, at=groups.at, groups=changed, removed=view.lacks_of(before))
            )
        for name, reason in view.unknown.items():
            if before is None or before.unknown.get(name) != reason:
                await self.send_frame(UnknownFrame(group=name, reason=reason))

    async def _view(self, watched: WatchFrame, groups: Groups) -> View:
        found = {group.name: group for pattern in watched.groups for group in groups.matching(pattern)}
        wanted = self.sight.groups(found[name] for name in sorted(found))
        known = {group.name: _watched(group) for group in wanted if group.lag is not None}
        if watched.detail == "queue":
            await self._add_queues(watched.cluster, known)
        if self._before is not None:
            # The views that are kept share what did not change.
            known = {name: _same(self._before.known.get(name), its) for name, its in known.items()}
        unknown = {group.name: group.unknown_reason or "unknown" for group in wanted if group.name not in known}
        return View(known, unknown)

    async def _add_queues(self, cluster: str, known: Mapping[str, WatchedGroup]) -> None:
        if not known:
            return
        fields: Any = await self.store.hmget(live.details_key(cluster), [live.MOMENTS, *known])
        moments, *details = fields
        for (name, group), kept in zip(known.items(), details, strict=True):
            detail = live.detail_of(name, moments, kept)
            state = None if detail is None else live.read(detail, GroupState)
            group.queues = [] if state is None else self.sight.group(state).queues


def _same(before: WatchedGroup | None, now: WatchedGroup) -> WatchedGroup:
    return before if before is not None and before == now else now


def _watched(group: GroupSummary) -> WatchedGroup:
    return WatchedGroup(**{name: getattr(group, name) for name in GroupFigures.__struct_fields__})
