"""A replay into a topic that groups read, into its own source, and into another cluster."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.gateway.control.conftest import Control

pytestmark = pytest.mark.gantry_only


def start(control: Control, source: str, target: str, **changes: Any) -> httpx.Response:
    cluster = changes.pop("cluster", None)
    to = {"topic": target, **({"cluster": cluster} if cluster else {})}
    asked = {"type": "replay", "source": {"topic": source}, "target": to, **changes}
    answer = control.as_("operator").post("/api/v1/jobs", json=asked)
    if answer.status_code == 202:
        # What would be copied is of no interest here
        control.as_("operator").post(f"/api/v1/jobs/{answer.json()['id']}:cancel")
    return answer


def test_groups_that_read_the_target_are_named_and_get_copies_only_where_that_is_allowed(control: Control) -> None:
    """A replay into a topic that groups read is refused without `allow_live_target`, and names the groups."""
    source, target, group = control.topic(), control.topic(), control.group()
    control.produce(target, "a")
    control.consume(group, target, 1)
    refused = start(control, source, target)
    assert refused.status_code == 422, refused.text
    [error] = refused.json()["errors"]
    assert error["pointer"] == "#/allow_live_target"
    assert f"is read by {group}, which would get the copies" in error["detail"]
    # A dry run writes nothing
    assert start(control, source, target, dry_run=True).status_code == 202
    assert start(control, source, target, allow_live_target=True).status_code == 202


def test_a_topic_is_replayed_into_itself_only_where_that_is_allowed(control: Control) -> None:
    topic = control.topic()
    [error] = start(control, topic, topic).json()["errors"]
    assert error["pointer"] == "#/target/topic"
    assert start(control, topic, topic, allow_live_target=True).status_code == 202


def test_the_cluster_of_a_target_is_one_that_is_registered(control: Control) -> None:
    source, target = control.topic(), control.topic()
    [error] = start(control, source, target, cluster="nowhere").json()["errors"]
    assert error["pointer"] == "#/target/cluster"
    assert start(control, source, target, cluster="local").status_code == 202
