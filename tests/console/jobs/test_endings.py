"""Who is told of the end of a job."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import transaction
from pytest_django import Settings

from console.alerts import channels, delivering, notices
from console.alerts.models import Channel, Delivery
from console.jobs import services
from console.jobs.models import JobState
from tests.console.alerts.receivers import web_hook
from tests.console.jobs.conftest import BY, REPLAY
from tests.support.cast import Cast


def channel(url: str = "https://hooks.example.com/a") -> Channel:
    return channels.add(BY, {"name": "oncall", "kind": "webhook", "url": url, "secret": "s3cret"})


@pytest.mark.parametrize(("state", "is_told"), [(JobState.FAILED, True), (JobState.SUCCEEDED, False)])
def test_the_channels_of_notify_are_told_of_these_ends(settings: Settings, state: JobState, is_told: bool) -> None:
    """With `notify` the named alert channels are told of the ends in `on`."""
    settings.GANTRY_WEBHOOK_NETWORKS = ["127.0.0.0/8"]
    with web_hook() as hook:
        asked = {**REPLAY, "name": "copy", "notify": {"channels": [channel(hook.url).pk], "on": ["failed", "partial"]}}
        job = services.create(BY, asked)
        mine = services.claim(job.id, worker="w", host="h")
        assert mine is not None
        services.finish(mine, state, "because")
        for delivery in Delivery.objects.all():
            delivering.attempt(delivery.pk)
        told = [json.loads(body) for _, body in hook.posted]
    assert len(told) == is_told
    for sent in told:
        assert (sent["event"], sent["title"]) == ("notice", "copy: failed")
        about = sent["details"]["job"]
        assert (about["id"], about["state"], about["reason"], about["schedule"]) == (job.id, "failed", "because", None)


def test_a_notice_that_cannot_be_made_does_not_undo_the_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        # As a fault of the database would: nothing more can be written in its transaction
        Channel.objects.create(pk=made.pk, name="again")

    made = channel()
    monkeypatch.setattr(notices, "notify", fail)
    job = services.create(BY, {**REPLAY, "notify": {"channels": [made.pk], "on": ["failed"]}})
    mine = services.claim(job.id, worker="w", host="h")
    assert mine is not None
    with transaction.atomic():
        assert services.finish(mine, JobState.FAILED, "because")
    job.refresh_from_db()
    assert (job.state, job.state_reason) == (JobState.FAILED, "because")
    assert f"job={job.id}: it ended, and nobody could be told" in caplog.text
    assert "IntegrityError" in caplog.text


@pytest.mark.parametrize(
    ("notify", "pointer"),
    [
        ({"channels": ["nobody"], "on": ["failed"]}, "#/notify/channels"),
        ({"channels": [], "on": ["failed"]}, "#/notify/channels"),
        ({"channels": ["{channel}"], "on": ["never"]}, "#/notify/on/0"),
        ({"channels": ["{channel}"]}, "#/notify/on"),
    ],
)
def test_a_channel_or_end_that_there_is_not_is_refused(cast: Cast, notify: dict[str, Any], pointer: str) -> None:
    made = channel().pk
    asked = json.loads(json.dumps({**REPLAY, "notify": notify}).replace("{channel}", made))
    answer: Any = cast.browser("admin").post("/api/v1/jobs", asked, format="json")
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)


def test_to_name_channels_needs_what_a_rule_needs(cast: Cast) -> None:
    """`notify` needs the right that alert rules need: `manage` on everything."""
    asked = {**REPLAY, "notify": {"channels": [channel().pk], "on": ["failed"]}}
    answer: Any = cast.limited(("topic", "*", "read", "produce"), ("job", "*", "read", "jobs")).post(
        "/api/v1/jobs", asked, format="json"
    )
    assert (answer.status_code, "manage" in answer.json()["detail"]) == (403, True)
