"""Who may export what of a topic."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from broker_core.client.admin.topics import Topic, TopicKind
from broker_core.protocol.bodies.topics import TopicConfig
from broker_core.spark.schema import COLUMNS as OF_SOURCE
from console.jobs import services
from console.jobs.models import Job
from console.jobs.requests import form, topics
from console.jobs.requests.export import COLUMNS
from tests.console.jobs.conftest import BY
from tests.support.cast import Cast

PAGE = Path(__file__).resolve().parents[3] / "docs/http-api.md"
WITHOUT_BODIES = (("topic", "*", "read"), ("job", "*", "read", "jobs"))
EXPORT: dict[str, Any] = {"type": "export", "source": {"topic": "orders"}, "format": "csv"}


@pytest.fixture(autouse=True)
def _a_topic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(form, "check_cluster", lambda _: None)
    found = Topic("orders", TopicKind.NORMAL, {"broker-a": TopicConfig("orders")})
    monkeypatch.setattr(topics, "find_topic", lambda *_: found)


def start(client: Any, **changes: Any) -> Any:
    return client.post("/api/v1/jobs", {**EXPORT, **changes}, format="json")


def test_all_columns_of_a_topic_can_be_exported() -> None:
    assert set(COLUMNS) == OF_SOURCE.keys() - {"_error"}


def test_an_export_has_by_default_what_its_user_may_read(cast: Cast) -> None:
    """The sentence of docs/http-api.md names the columns."""
    all_of_it = start(cast.browser("operator")).json()["request"]["columns"]
    assert {"body", "properties"} <= set(all_of_it)
    *usual, last, body, properties = (f"`{name}`" for name in all_of_it)
    promise = (
        f"Without `columns` an export has {', '.join(usual)} and {last}, and {body} and {properties} only if its user"
    )
    assert promise in " ".join(PAGE.read_text(encoding="utf-8").split())
    limited = start(cast.limited(*WITHOUT_BODIES)).json()["request"]["columns"]
    assert limited == [name for name in all_of_it if name not in ("body", "properties")]


@pytest.mark.parametrize("asked", [{"columns": ["body"]}, {"source": {"topic": "orders", "where": "json:n::int > 1"}}])
def test_what_stands_in_messages_is_not_exported_for_who_may_not_read_it(cast: Cast, asked: dict[str, Any]) -> None:
    refused = start(cast.limited(*WITHOUT_BODIES), **asked)
    assert refused.status_code == 403
    assert "'bodies' on topic 'orders'" in refused.json()["detail"]


@pytest.mark.parametrize(("columns", "status"), [(["key", "body"], 403), (["key", "tag"], 200)])
def test_a_file_with_bodies_is_downloaded_by_those_alone_who_may_read_them(
    cast: Cast, columns: list[str], status: int
) -> None:
    job = services.create(BY, {**EXPORT, "cluster": "local", "columns": columns})
    Job.objects.filter(pk=job.pk).update(artefacts=[{"name": "messages.csv", "kind": "csv", "bytes": 1}])
    folder = services.folder_of(job)
    folder.mkdir(parents=True)
    (folder / "messages.csv").write_text(json.dumps("x"))
    limited = cast.limited(*WITHOUT_BODIES)
    for client, expected in ((limited, status), (cast.browser("operator"), 200)):
        with closing(client.get(f"/api/v1/jobs/{job.pk}/artefacts/messages.csv")) as answer:
            assert answer.status_code == expected


def test_a_replay_into_a_file_shows_bodies_to_those_alone_who_may_read_them(cast: Cast) -> None:
    asked = {"type": "replay", "source": {"topic": "orders"}, "target": {"kind": "parquet"}}
    started = cast.browser("operator").post("/api/v1/jobs", asked, format="json")
    assert (started.status_code, started.json()["name"]) == (202, "Replay orders to Parquet")
    job = Job.objects.get(pk=started.json()["id"])
    Job.objects.filter(pk=job.pk).update(artefacts=[{"name": "messages.parquet", "kind": "parquet", "bytes": 1}])
    folder = services.folder_of(job)
    folder.mkdir(parents=True)
    (folder / "messages.parquet").write_bytes(b"x")
    for client, expected in ((cast.limited(*WITHOUT_BODIES), 403), (cast.browser("operator"), 200)):
        with closing(client.get(f"/api/v1/jobs/{job.pk}/artefacts/messages.parquet")) as answer:
            assert answer.status_code == expected
