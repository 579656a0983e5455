"""Ranges of offsets of a job, against what its queues have when it is started."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.gateway.control.conftest import Control

pytestmark = pytest.mark.gantry_only

REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"queue": 0, "from": 1}, "from", "queue 0 of broker-a has the offsets 2 to 4, not 1"),
    ({"queue": 0, "from": 5}, "from", "has the offsets 2 to 4, not 5"),
    ({"queue": 0, "to": 5}, "to", "has the offsets 2 to 4, not 5"),
    ({"queue": 0, "from": 3, "to": 9}, "to", "has the offsets 2 to 4, not 9"),
    ({"queue": 0, "broker": "broker-z"}, "broker", "queue 0 is on broker-a, not on 'broker-z'"),
    ({"queue": 1}, "queue", "there is no queue 1, only 0 to 0"),
]
ACCEPTED: list[dict[str, Any]] = [
    {"queue": 0, "from": 2, "to": 4},
    {"queue": 0, "from": 4},
    {"queue": 0, "broker": "broker-a", "to": 3},
]


def start(control: Control, source: dict[str, Any], target: str) -> httpx.Response:
    asked = {"type": "replay", "source": source, "target": {"topic": target}}
    answer = control.as_("operator").post("/api/v1/jobs", json=asked)
    if answer.status_code == 202:
        # What would be copied is of no interest here
        control.as_("operator").post(f"/api/v1/jobs/{answer.json()['id']}:cancel")
    return answer


def test_a_range_that_its_queue_does_not_have_is_refused_at_once(control: Control) -> None:
    """Ranges of offsets lie within what the queue has when the request comes; a range may begin at its end."""
    topic, target = control.topic(), control.topic()
    control.produce(topic, *"abcd")
    begin = {"queues": [{"broker": "broker-a", "queue_id": 0, "before": 2}]}
    assert control.call("POST", f"/topics/{topic}:purge", json=begin).status_code == 200
    for given, field, detail in REFUSED:
        answer = start(control, {"topic": topic, "offsets": [given]}, target)
        assert answer.status_code == 422, answer.text
        [error] = answer.json()["errors"]
        assert error["pointer"] == f"#/source/offsets/0/{field}"
        assert detail in error["detail"]
    for given in ACCEPTED:
        assert start(control, {"topic": topic, "offsets": [given]}, target).status_code == 202
    [error] = start(control, {"topic": topic, "queues": [0, 1]}, target).json()["errors"]
    assert (error["pointer"], "has the queues 0 to 0" in error["detail"]) == ("#/source/queues/1", True)


def test_the_job_of_a_schedule_is_checked_the_same(control: Control) -> None:
    source = {"topic": control.topic(), "offsets": [{"queue": 0, "to": 7}]}
    job = {"type": "replay", "source": source, "target": {"topic": control.topic()}}
    schedule = {"name": control.name("nightly"), "cron": "0 3 * * *", "job": job}
    answer = control.as_("operator").post("/api/v1/schedules", json=schedule)
    assert answer.status_code == 422, answer.text
    assert [error["pointer"] for error in answer.json()["errors"]] == ["#/job/source/offsets/0/to"]
