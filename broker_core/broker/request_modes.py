"""How groups get a topic's messages when the broker assigns the queues: by pull, or by lease.

Saved as ``messageRequestMode.json``, in the format of Apache RocketMQ.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from broker_core.broker.errors import BadConfigFile
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.saving import JsonFile
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.pop import SetMessageRequestModeRequestBody
from broker_core.protocol.errors import MalformedBody

FILE_NAME: Final = "messageRequestMode.json"
PULL: Final = "PULL"
POP: Final = "POP"


@dataclass(frozen=True, slots=True)
class _File:
    message_request_mode_map: dict[str, dict[str, SetMessageRequestModeRequestBody]] = field(default_factory=dict)


class RequestModes:
    """The mode of each topic and group; the default is pull."""

    def __init__(self, file: JsonFile, limits: BrokerLimits) -> None:
        self._file = file
        self._limits = limits
        self._table: dict[tuple[str, str], SetMessageRequestModeRequestBody] = {}
        self.is_changed = False
        self.changes = 0
        """Counts what changed."""

    def all(self) -> list[SetMessageRequestModeRequestBody]:
        """Return what was set for each topic and group."""
        return list(self._table.values())

    def replace(self, modes: Iterable[SetMessageRequestModeRequestBody]) -> None:
        """Become the register of another broker."""
        self._table = {(each.topic, each.consumer_group): each for each in modes}
        self._note()

    def _note(self) -> None:
        self.is_changed = True
        self.changes += 1

    def find(self, topic: str, group: str) -> SetMessageRequestModeRequestBody:
        """Return how a group gets the messages of a topic."""
        return self._table.get((topic, group)) or SetMessageRequestModeRequestBody(topic, group)

    def put(self, mode: SetMessageRequestModeRequestBody) -> None:
        """Set the mode of a topic and group; raise LimitReached when there are too many."""
        place = mode.topic, mode.consumer_group
        if place not in self._table and len(self._table) >= self._limits.request_modes:
            what = f"group {mode.consumer_group!r} gets topic {mode.topic!r} as before"
            raise self._limits.refuse("request_modes", what)
        self._table[place] = mode
        self._note()

    def forget(self, *, topic: str | None = None, group: str | None = None) -> None:
        """Remove the modes of a deleted topic or group."""
        left = {place: mode for place, mode in self._table.items() if place[0] != topic and place[1] != group}
        if len(left) != len(self._table):
            self._note()
        self._table = left

    def text(self) -> bytes:
        """Return the current content for the file, and mark the register as saved."""
        self.is_changed = False
        topics: dict[str, dict[str, SetMessageRequestModeRequestBody]] = {}
        for (topic, group), mode in self._table.items():
            topics.setdefault(topic, {})[group] = mode
        return orjson.dumps(coder.to_tree(_File(topics)), option=orjson.OPT_INDENT_2)

    def save(self, text: bytes) -> None:
        """Write a text returned by `text()`; may run in another thread. Raises OSError."""
        self._file.save(text)

    def load(self) -> None:
        """Replace the register with the content of the file; raises BadConfigFile."""
        tree: Any = self._file.load()
        try:
            topics = coder.from_tree(_File, {} if tree is None else tree).message_request_mode_map
        except MalformedBody as error:
            raise BadConfigFile(f"{self._file} is not a table of request modes: {error}") from error
        self._table = {(topic, group): mode for topic, groups in topics.items() for group, mode in groups.items()}
        self.is_changed = False
