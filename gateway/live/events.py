"""``/ws/v1/events``: the current state of any number of subjects, and each new one as it is published.

::

    > {"type":"subscribe","subjects":["groups:local","job:01J8…"]}
    < {"type":"state","subject":"groups:local","seq":8,"at":"…","data":{"at":"…","items":[…]}}
    < {"type":"delta","subject":"groups:local","seq":9,"at":"…","data":{"at":"…","changed":[…],"removed":[…],…}}
    < {"type":"denied","subject":"job:01J8…"}
    > {"type":"unsubscribe","subjects":["groups:local"]}

A state is complete, so the next one makes up for a missed one. For `groups:` and `topics:` the first frame is a state
and the next ones say what changed since the previous frame; where that is unknown, a state is sent instead. This socket
asks no broker: it forwards what the sampler and the jobs publish, and a new subscriber gets the last state that was
kept.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec
from msgspec import Meta, Struct

from console import live
from console.accounts.rights import EVERYTHING, Resource, Unnamed
from gateway.auth import Principal
from gateway.live.socket import LiveSocket
from gateway.problems import TOO_MANY_IN_FLIGHT, ProblemError

MAX_SUBJECTS: Final = 500
# These show all names of a kind, so a caller limited to some is not enough.
_OF_KIND: Final[dict[str, Resource | Unnamed]] = {
    "overview": EVERYTHING,
    "groups": Resource("group", EVERYTHING),
    "topics": Resource("topic", EVERYTHING),
    "job": EVERYTHING,
}

Subjects = Annotated[list[Annotated[str, Meta(min_length=1, max_length=400)]], Meta(max_length=MAX_SUBJECTS)]


class SubscribeFrame(Struct, forbid_unknown_fields=True):
    """Subscribe to these."""

    type: Literal["subscribe"]
    subjects: Subjects


class UnsubscribeFrame(Struct, forbid_unknown_fields=True):
    """Unsubscribe from these."""

    type: Literal["unsubscribe"]
    subjects: Subjects


class EventsConsumer(LiveSocket):
    """One socket of `/ws/v1/events`."""

    decoders: ClassVar = {
        "subscribe": msgspec.json.Decoder(SubscribeFrame),
        "unsubscribe": msgspec.json.Decoder(UnsubscribeFrame),
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._last_seq: dict[str, int] = {}

    async def handle_frame(self, frame: SubscribeFrame | UnsubscribeFrame) -> None:
        """Begin or end subscriptions."""
        if isinstance(frame, UnsubscribeFrame):
            for subject in frame.subjects:
                await self._leave(subject)
            return
        for subject in frame.subjects:
            if not may_watch(self.principal, subject):
                await self.send_frame({"type": "denied", "subject": subject})
            elif subject not in self._last_seq:
                await self._join(subject)

    async def state(self, event: live.Event) -> None:
        """Forward a published state (called by Channels)."""
        subject = event["subject"]
        if self._last_seq.get(subject) not in (None, event["seq"]):
            self._last_seq[subject] = event["seq"]
            await self.send_frame(event)

    async def delta(self, event: live.Event) -> None:
        """Forward a delta if it follows the event sent last, else the whole state (called by Channels)."""
        subject = event["subject"]
        sent = self._last_seq.get(subject)
        if sent is not None and sent + 1 == event["seq"]:
            await self.state(event)
        elif sent is not None and sent < event["seq"]:
            await self._catch_up(subject)

    async def disconnect(self, code: int) -> None:
        """Leave every subject."""
        for subject in list(self._last_seq):
            await self._leave(subject)

    async def _join(self, subject: str) -> None:
        if len(self._last_seq) >= MAX_SUBJECTS:
            raise ProblemError(TOO_MANY_IN_FLIGHT, f"A socket can watch at most {MAX_SUBJECTS} subjects.")
        # First join, then read: a state published in between arrives twice rather than not at all.
        self._last_seq[subject] = 0
        await self.channel_layer.group_add(live.channel_group(subject), self.channel_name)
        await self._catch_up(subject)

    async def _catch_up(self, subject: str) -> None:
        event = await live.last_state(subject, store=self.store)
        if event is not None:
            await self.state(event)

    async def _leave(self, subject: str) -> None:
        if self._last_seq.pop(subject, None) is not None:
            await self.channel_layer.group_discard(live.channel_group(subject), self.channel_name)


def may_watch(principal: Principal, subject: str) -> bool:
    """Return whether the kind of the subject exists, and the principal may read it."""
    kind, _, rest = subject.partition(":")
    if kind == "group":
        _, colon, group = rest.partition(":")
        return bool(colon and group) and principal.may("read", Resource("group", group))
    if kind in _OF_KIND:
        return bool(rest) and principal.may("read", _OF_KIND[kind])
    return subject == live.JOBS and principal.may("read", EVERYTHING)
