"""The sides of a reconciliation, planned as its request says."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from broker_core.job_folder import say
from broker_core.job_sources import SourceRefused, connection_named, files_below
from broker_core.spark.bytes_read import PlanCost
from broker_core.spark.comparing.comparison import SIDES, Comparison
from broker_core.spark.comparing.expressions import side_sql
from broker_core.spark.comparing.groups import group_side
from broker_core.spark.comparing.sides import Side, TopicSide, topic_side
from broker_core.spark.comparing.tables import csv_side, parquet_side
from broker_core.spark.errors import BadRequest
from broker_core.spark.options import Mode, SourceOptions, parse_time
from broker_core.spark.programs.program import Run
from broker_core.spark.programs.requests import STOP, on_damage, place_of
from broker_core.spark.programs.whole_topic import whole_topic
from broker_core.spark.reading import plan_together
from broker_core.spark.session import is_local

TOPIC: Final = "topic"
GROUP: Final = "group"
KINDS: Final = (TOPIC, GROUP, "parquet", "csv", "postgresql")
_TELL_EVERY_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class AskedRange:
    """The times of a side that are judged, in ms; the end is exclusive."""

    begin: int | None
    end: int | None


def asked_range(asked: Mapping[str, Any]) -> AskedRange:
    """Return the range of a side."""
    return AskedRange(*(None if not asked.get(name) else parse_time(name, asked[name]) for name in ("from", "to")))


def kind_of(asked: Mapping[str, Any]) -> str:
    """Return the kind of a side; raise BadRequest for one that there is not."""
    kind = asked.get("kind") or TOPIC
    if kind not in KINDS:
        raise BadRequest(f"kind={kind!r}: one of {', '.join(KINDS)}")
    return str(kind)


@dataclass(slots=True)
class Sides:
    """Plans both sides."""

    run: Run
    comparison: Comparison
    count_to: str
    retried: int | None = None
    """Once planned: how many messages a group consumed after retries, if a side has one."""
    cost: PlanCost = field(default_factory=PlanCost)
    """What planning took."""
    _copied: dict[str, int] = field(default_factory=dict)
    _told_at: float = 0.0

    def plan(self) -> tuple[Side, ...]:
        """Return the left and the right side; topics are pinned together, tables copied after that."""
        asked = {name: self.run.request.asked[name] for name in SIDES}
        options = {name: self._options(side) for name, side in asked.items() if kind_of(side) in (TOPIC, GROUP)}
        planned = dict(zip(options, plan_together(list(options.values()), self.cost), strict=True))
        topics = {name: topic_side(options[name], parts) for name, parts in planned.items()}
        return tuple(self._side(name, side, topics.get(name)) for name, side in asked.items())

    def _options(self, asked: Mapping[str, Any]) -> SourceOptions:
        """Return what to read of a topic: the range of the side, and around it as much as a row may be late."""
        request, chosen, late = self.run.request, asked_range(asked), self.comparison.lateness_ms
        return replace(
            whole_topic(request, asked["topic"], asked.get("cluster")),
            starting_timestamp=None if chosen.begin is None else chosen.begin - late,
            # The end is excluded, and what is late by all of the time is not.
            ending_timestamp=None if chosen.end is None else chosen.end + late + (late > 0),
            mode=Mode.FAIL_FAST if on_damage(request) == STOP else Mode.PERMISSIVE,
            count_to=self.count_to,
        )

    def _side(self, name: str, asked: Mapping[str, Any], topic: TopicSide | None) -> Side:
        kind = kind_of(asked)
        if kind == GROUP and topic is not None:
            place = place_of(self.run.request, asked.get("cluster"))
            found = group_side(name, asked["group"], topic, place.wire_place)
            self.retried = (self.retried or 0) + found.fates.retried
            return found
        if topic is not None:
            return topic
        if not is_local(self.run.request.spark.master):
            raise BadRequest(
                f"{name}.kind={kind!r}: files and databases are compared by a Spark of this machine, local[N] and not "
                f"{self.run.request.spark.master}"
            )
        return self._table(name, kind, asked)

    def _table(self, name: str, kind: str, asked: Mapping[str, Any]) -> Side:
        copies = self.run.folder.path / "tmp" / "copies"
        copies.mkdir(parents=True, exist_ok=True)

        def choose(names: Sequence[str]) -> Sequence[str]:
            return side_sql(name, self.comparison, asked.get("where"), ()).columns(names)

        rows = self._counted(name)
        try:
            if kind == "postgresql":
                # Not every comparison has to wait for a driver of databases.
                from broker_core.spark.comparing.database import database_side

                connection = connection_named(_path(self.run.request.databases_file), asked["connection"])
                return database_side(name, connection, asked, copies, choose, rows, self.count_to)
            files = self._files(asked["path"], kind)
        except SourceRefused as error:
            raise BadRequest(f"{name}.{'connection' if kind == 'postgresql' else 'path'}: {error}") from error
        if kind == "csv":
            return csv_side(name, files, asked.get("time"), copies, choose, rows, self.count_to)
        return parquet_side(name, files, asked.get("time"), self.count_to)

    def _files(self, path: str, kind: str) -> list[tuple[Path, str]]:
        folder = _path(self.run.request.files_folder)
        found = files_below(folder, path, f".{kind}")
        return [(file, path if len(found) == 1 else f"{path.rstrip('/')}/{file.name}") for file in found]

    def _counted(self, name: str) -> Callable[[int], None]:
        """Return what is called with the rows of each batch of a copy: tells of them, and ends when the run must."""

        def count(rows: int) -> None:
            if self.run.is_stopping:
                raise InterruptedError(self.run.stop_reason)
            self._copied[name] = self._copied.get(name, 0) + rows
            if time.monotonic() - self._told_at > _TELL_EVERY_S:
                self._told_at = time.monotonic()
                say(f"{name}: {self._copied[name]:,} rows copied")

        return count


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)
