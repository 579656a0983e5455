"""The request of a reconciliation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rest_framework.exceptions import ValidationError

from broker_core.client.admin.groups import Group
from broker_core.client.admin.topics import Topic, TopicKind
from broker_core.protocol.bodies.topics import TopicConfig
from console.clusters.models import Cluster
from console.jobs.requests import JobRequestSerializer, WholeJobRequestSerializer, form, name_of, sides, topics
from console.jobs.requests.reconcile import CompareField
from console.jobs.requests.sides import ByField

AMOUNT = {"name": "amount", "left": "json:amount::double", "right": "json:total::double", "tolerance": 0.01}


@pytest.fixture(autouse=True)
def _cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(_: str, name: str) -> Topic:
        return Topic(name, TopicKind.NORMAL, {"broker-a": TopicConfig(name, read_queue_nums=4, write_queue_nums=4)})

    monkeypatch.setattr(topics, "find_topic", found)
    monkeypatch.setattr(form, "require_parts", lambda *_: None)
    monkeypatch.setattr(form, "check_cluster", lambda _: None)


def faults(**changes: Any) -> dict[str, Any]:
    """Return what is refused of a request, by field."""
    data = {"type": "reconcile", "left": {"topic": "a"}, "right": {"topic": "b"}, **changes}
    asked = JobRequestSerializer(data=data, context={"request": None})
    return {} if asked.is_valid() else dict(asked.errors)


def test_a_side_may_have_a_condition_and_values_may_come_from_expressions() -> None:
    left = {"topic": "a", "where": "json:state::string = 'paid'"}
    by = {"left": "json:id::string", "right": "element_at(keys, 1)"}
    assert faults(left=left, by=by, compare=["tag", AMOUNT], multiset=False, lateness_ms=60_000) == {}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"left": {"topic": "a", "where": "(select 1) = 1"}}, "left"),
        ({"left": {}}, "left"),
        ({"left": {"topic": "a", "path": "x.csv"}}, "left"),
        ({"left": {"topic": "a", "kind": "excel"}}, "left"),
        ({"order": True, "multiset": False}, "order"),
        ({"order": True, "compare": [AMOUNT]}, "order"),
        ({"lateness_ms": -1}, "lateness_ms"),
        ({"by": {"left": "key"}}, "by"),
        ({"by": "luck"}, "by"),
    ],
)
def test_what_cannot_be_served_is_refused_by_its_field(changes: dict[str, Any], field: str) -> None:
    assert list(faults(**changes)) == [field]


@pytest.mark.parametrize(
    ("value", "where"),
    [
        (["body", {"name": "x", "left": "a", "right": "reflect('a', 'b')"}], [1]),
        ([{"name": "x y", "left": "a", "right": "b"}], [0]),
        ([{"name": "x", "left": "a", "right": "b", "tolerance": -1}], [0]),
        ([{"name": "x", "left": "a", "right": "b", "round": 2}], [0]),
        ([{"name": "x", "left": "a", "right": "b", "tolerance": "1"}], [0]),
        ([{"name": "x", "left": "a", "right": "b", "tolerance": True}], [0]),
        ([{"name": "x", "left": 1, "right": "b"}], [0]),
        (["luck", "body", {"name": "x"}], [0, 2]),
    ],
)
def test_a_compared_value_that_is_wrong_is_named_by_its_place(value: list[Any], where: list[int]) -> None:
    with pytest.raises(ValidationError) as refused:
        CompareField().run_validation(value)
    assert [str(each) for each in refused.value.detail] == [str(each) for each in where]


def test_a_wrong_word_is_told_the_words_that_there_are() -> None:
    (fault,) = faults(by="luck")["by"]
    assert fault == "must be one of key, unique_id, body, source, or an SQL expression for each side, not 'luck'"


@pytest.mark.parametrize("given", [{"by": "x" * 9000}, {"compare": ["x" * 9000]}, {"compare": [[["x"] * 9000]]}])
def test_what_is_refused_is_not_repeated_whole(given: dict[str, Any]) -> None:
    assert len(str(faults(**given))) < 500


def test_a_check_has_no_sides() -> None:
    assert faults(check="store") == {side: ["does not go with check, which has no sides"] for side in ("left", "right")}


def test_the_job_of_a_schedule_is_no_null() -> None:
    with pytest.raises(ValidationError, match="must be an object, not null"):
        WholeJobRequestSerializer(context={"request": None}).run_validation(None)


def test_a_name_is_compared_once() -> None:
    with pytest.raises(ValidationError, match="names amount twice"):
        CompareField().run_validation([AMOUNT, AMOUNT])


def test_a_pair_of_expressions_has_no_other_field() -> None:
    with pytest.raises(ValidationError, match="is not a field"):
        ByField(("key",)).run_validation({"left": "key", "right": "key", "middle": "key"})


PAIR: dict[str, Any] = {"by": {"left": "key", "right": "id"}, "compare": "none"}


@pytest.fixture
def files(tmp_path: Path, settings: Any) -> Path:
    """The folder and the connections that jobs may read."""
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a.csv").write_text("id\n")
    (tmp_path / "b.csv").write_text("id\n")
    services = tmp_path / "services"
    services.write_text("[shop]\nhost=db\n")
    settings.GANTRY_JOBS_FILES, settings.GANTRY_JOBS_DATABASES = folder, services
    return folder


@pytest.mark.parametrize(
    ("right", "fault"),
    [
        ({"kind": "csv", "path": "a.csv"}, None),
        ({"kind": "csv", "path": "../b.csv"}, ("path", "without '..'")),
        ({"kind": "csv"}, ("path", "is required for a side of the kind csv")),
        ({"kind": "csv", "path": "a.csv", "topic": "a"}, ("topic", "does not belong")),
        ({"kind": "csv", "path": "a.csv", "from": "2026-05-01T00:00:00Z"}, ("time", "is required with from and to")),
        ({"kind": "postgresql", "connection": "shop", "table": "orders"}, None),
        ({"kind": "postgresql", "connection": "shop"}, ("table", "either table or query is required")),
        ({"kind": "postgresql", "connection": "till", "table": "x"}, ("connection", "which has: shop")),
    ],
)
def test_files_and_databases_are_those_of_the_server(
    files: Path, right: dict[str, Any], fault: tuple[str, str] | None
) -> None:
    found = faults(right=right, **PAIR)
    if fault is None:
        assert found == {}
    else:
        assert fault[1] in str(found["right"][fault[0]])


def test_without_the_settings_no_file_and_no_database_is_read() -> None:
    for right, field in (
        ({"kind": "parquet", "path": "a"}, "path"),
        ({"kind": "postgresql", "connection": "shop", "table": "x"}, "connection"),
    ):
        assert "is not set" in str(faults(right=right, **PAIR)["right"][field])


@pytest.mark.parametrize(
    ("changes", "field"), [({"by": "key"}, "by"), ({"compare": "body"}, "compare"), ({"compare": ["tag"]}, "compare")]
)
def test_what_a_table_does_not_have_must_come_from_expressions(
    files: Path, changes: dict[str, Any], field: str
) -> None:
    assert list(faults(right={"kind": "csv", "path": "a.csv"}, **{**PAIR, **changes})) == [field]


def test_a_group_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sides, "find_group", lambda _cluster, name: Group(name) if name == "known" else None)
    right = {"kind": "group", "topic": "b", "group": "known"}
    assert faults(right=right) == {}
    assert "no group 'none'" in str(faults(right={**right, "group": "none"})["right"]["group"])


def test_a_store_is_checked_without_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    def of_check(**more: Any) -> dict[str, Any]:
        asked = JobRequestSerializer(data={"type": "reconcile", "check": "store", **more}, context={"request": None})
        return {} if asked.is_valid() else dict(asked.errors)

    monkeypatch.setattr(form, "check_embedded", lambda _: None)
    assert of_check() == {}
    assert list(of_check(left={"topic": "a"})) == ["left"]
    assert list(of_check(check="disk")) == ["check"]
    assert name_of({"type": "reconcile", "check": "store", "cluster": "local"}) == "Check the store of local"


def test_only_the_store_of_the_embedded_broker_is_checked(db: None) -> None:
    Cluster.objects.create(name="east", kind="rocketmq", name_servers=["127.0.0.1:1"])
    with pytest.raises(ValidationError, match="only the store of the embedded broker"):
        topics.check_embedded("east")
