"""How groups get a topic's messages where the broker shares out the queues: by pull, or by lease.

Kept as ``messageRequestMode.json``, in Apache RocketMQ's form.
"""

from __future__ import annotations

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
    """The mode of each topic and group; a group without one pulls."""

    def __init__(self, file: JsonFile, limits: BrokerLimits) -> None:
        self._file = file
        self._limits = limits
        self._table: dict[tuple[str, str], SetMessageRequestModeRequestBody] = {}
        self.is_changed = False

    def find(self, topic: str, group: str) -> SetMessageRequestModeRequestBody:
        """Return how a group gets the messages of a topic."""
        return self._table.get((topic, group)) or SetMessageRequestModeRequestBody(topic, group)

    def put(self, mode: SetMessageRequestModeRequestBody) -> None:
        """Keep what is set, in place of the one before; raise LimitReached for one too many."""
        place = mode.topic, mode.consumer_group
        if place not in self._table and len(self._table) >= self._limits.request_modes:
            what = f"group {mode.consumer_group!r} gets topic {mode.topic!r} as before"
            raise self._limits.refuse("request_modes", what)
        self._table[place] = mode
        self.is_changed = True

    def forget(self, *, topic: str | None = None, group: str | None = None) -> None:
        """Drop what was set for a topic, or for a group, that is deleted."""
        left = {place: mode for place, mode in self._table.items() if place[0] != topic and place[1] != group}
        self.is_changed |= len(left) != len(self._table)
        self._table = left

    def text(self) -> bytes:
        """Return the text of the file as it should be now; from here on the register counts as unchanged."""
        self.is_changed = False
        topics: dict[str, dict[str, SetMessageRequestModeRequestBody]] = {}
        for (topic, group), mode in self._table.items():
            topics.setdefault(topic, {})[group] = mode
        return orjson.dumps(coder.to_tree(_File(topics)), option=orjson.OPT_INDENT_2)

    def save(self, text: bytes) -> None:
        """Write a text of `text()`; may run in another thread. Raises OSError."""
        self._file.save(text)

    def load(self) -> None:
        """Replace the register by what the file says; raises BadConfigFile."""
        tree: Any = self._file.load()
        try:
            topics = coder.from_tree(_File, {} if tree is None else tree).message_request_mode_map
        except MalformedBody as error:
            raise BadConfigFile(f"{self._file} is not a table of request modes: {error}") from error
        self._table = {(topic, group): mode for topic, groups in topics.items() for group, mode in groups.items()}
        self.is_changed = False
