"""The console translates refusals by the sentences of the server: its examples are what the server says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from broker_core.client.admin.topics import Topic, TopicKind, TopicStats
from broker_core.protocol.bodies import MessageQueue, TopicOffset
from broker_core.protocol.bodies.topics import TopicConfig
from broker_core.sql_text import sql_fault
from console.errors import Conflict
from console.jobs.bounds import BoundField
from console.jobs.missing import request_of
from console.jobs.models import Job, JobType
from console.jobs.requests import ReplaySourceSerializer, offsets, topics
from console.jobs.requests.places import check_connection, check_file, check_keys_file
from console.jobs.requests.reconcile import CompareField
from console.jobs.requests.replay import TransformSerializer

EXAMPLES: Final[list[dict[str, Any]]] = json.loads(
    (Path(__file__).parents[3] / "frontend" / "src" / "testing" / "job-refusals.json").read_text(encoding="utf-8")
)


class ScheduledSerializer(serializers.Serializer[Any]):
    """A range of a job on a schedule."""

    bound = BoundField()


def _validated(kind: type[serializers.Serializer[Any]], given: Any, **context: Any) -> None:
    kind(data=given, context=context).is_valid(raise_exception=True)


def _expression(given: str) -> None:
    fault = sql_fault(given)
    if fault is not None:
        raise ValidationError(fault)


def _offsets(given: Mapping[str, Any]) -> None:
    found = Topic("orders", TopicKind.NORMAL, {"broker-a": TopicConfig("orders")})
    offsets.check_offsets("local", "source", found, [given])


def _missing(given: Mapping[str, Any]) -> None:
    fields = {name: value for name, value in given.items() if name != "notes"}
    job = Job(**{"id": "j7", "type": JobType.RECONCILE, "state": "failed", "artefacts": [], **fields})
    if "notes" in given:
        job.folder.mkdir(parents=True)
        (job.folder / "report.json").write_text(json.dumps({"notes": given["notes"]}))
    request_of(job, {})


REFUSERS: Final[Mapping[str, Callable[[Any], object]]] = {
    "expression": _expression,
    "bound": lambda given: _validated(ScheduledSerializer, {"bound": given}, is_scheduled=True),
    "source": lambda given: _validated(ReplaySourceSerializer, {"topic": "orders", **given}),
    "compare": lambda given: CompareField().run_validation(given),
    "transform": lambda given: _validated(TransformSerializer, given),
    "file": lambda given: check_file(given, "csv"),
    "keys_file": lambda given: check_keys_file({"keys_file": given}),
    "connection": lambda given: check_connection({"table": "orders", "connection": given}),
    "kind": lambda given: topics.check_kind(TopicKind(given), "orders"),
    "embedded": topics.check_embedded,
    "offsets": _offsets,
    "missing": _missing,
}


@pytest.fixture
def places(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files, connections and queues that the examples are refused by."""
    settings.GANTRY_JOBS_FILES = tmp_path
    (tmp_path / "day").mkdir()
    (tmp_path / "link.csv").symlink_to(tmp_path.parent / "elsewhere.csv")
    for name, content in (("empty", b""), ("space", b"A 1\n"), ("latin", b"\xe9\n")):
        (tmp_path / f"{name}.txt").write_bytes(content)
    settings.GANTRY_JOBS_DATABASES = tmp_path / "connections"
    (tmp_path / "connections").write_text("[billing]\nhost=db\n")
    ends = {MessageQueue("orders", "broker-a", number): TopicOffset(5, 20) for number in range(4)}
    monkeypatch.setattr(offsets, "ask", lambda *_: TopicStats(ends, {}))


@pytest.mark.django_db
@pytest.mark.usefixtures("places")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each["says"][:60])
def test_the_examples_that_the_console_translates_are_what_the_server_says(example: dict[str, Any]) -> None:
    with pytest.raises((ValidationError, Conflict)) as met:
        REFUSERS[example["by"]](example["given"])
    said = list(_sentences(met.value.detail)) if isinstance(met.value, ValidationError) else [str(met.value)]
    assert said == [example["says"]]


def _sentences(detail: Any) -> Iterator[str]:
    if isinstance(detail, Mapping):
        detail = list(detail.values())
    if isinstance(detail, list):
        for each in detail:
            yield from _sentences(each)
    else:
        yield str(detail)
