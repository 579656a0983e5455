"""The ledger of dead letters that were sent again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from console.audit.record import Actor
from console.jobs import services
from console.jobs.models import Job, JobState
from console.redrives import ledger
from console.redrives.ledger import GroupBusy, Place
from console.redrives.models import Redriven

pytestmark = pytest.mark.django_db

REQUEST: dict[str, Any] = {
    "type": "redrive", "cluster": "local", "group": "billing", "filter": {}, "target": {"to": "failed_group"},
    "limits": {"messages_per_second": 200}, "originals": "until_consumed", "topics": [],
}  # fmt: skip


def job(**changed: Any) -> Job:
    """Return a redrive that waits for a worker."""
    return services.create(Actor.system("test"), {**REQUEST, **changed})


def line(offset: int, outcome: str = "redriven", **others: Any) -> str:
    """Return a line of a journal."""
    noted = {
        "at": "2026-11-23T17:00:00.000Z", "broker": "broker-a", "queue_id": 0, "offset": offset, "keys": [],
        "message_id": f"M{offset}", "cause": None, "outcome": outcome, "topic": "%RETRY%billing",
        "target_broker": "broker-a", "target_queue_id": 0, "target_offset": offset + 100, "copy_id": f"C{offset}",
        "why": None, **others,
    }  # fmt: skip
    return json.dumps(noted)


def journal(folder: Path, *lines: str) -> Path:
    """Write the journal of a job."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "journal.jsonl").write_text("\n".join(lines))
    return folder


def test_what_was_sent_is_entered_once_and_what_failed_is_not(tmp_path: Path) -> None:
    mine = job()
    folder = journal(tmp_path, line(1), line(2, "failed"), line(3, "skipped"), line(4)[:-5])
    ledger.note(mine, folder)
    ledger.note(mine, folder)
    (row,) = Redriven.objects.all()
    assert (row.group, row.offset, row.copy_id, row.target_offset) == ("billing", 1, "C1", 101)
    # Its own entries are no reason for a job to skip anything, those of others are.
    assert ledger.earlier(mine) == []
    services.cancel(Actor.system("test"), mine)
    assert [each["copy_id"] for each in ledger.earlier(job())] == ["C1"]
    assert ledger.earlier(job(group="shipping")) == []


def test_the_last_outcome_of_a_message_counts(tmp_path: Path) -> None:
    found = ledger.outcomes(journal(tmp_path, line(1, "failed"), line(2), line(1)))
    assert [(each.offset, each.outcome) for each in found] == [(2, "redriven"), (1, "redriven")]
    assert ledger.outcomes(tmp_path / "none") == []


def test_what_a_launcher_did_not_live_to_enter_is_entered_before_the_next_job(tmp_path: Path) -> None:
    lost = job()
    Job.objects.filter(pk=lost.pk).update(state=JobState.CANCELLED, attempt=1)
    journal(tmp_path / lost.id, line(5))
    ledger.catch_up(job(), lambda each: tmp_path / each.id)
    assert ledger.find(
        "local", "billing", [Place("broker-a", 0, 5, "M5"), Place("broker-a", 0, 5, "other")]
    ).keys() == {Place("broker-a", 0, 5, "M5")}


def test_entries_of_expired_dead_letters_are_removed(tmp_path: Path) -> None:
    ledger.note(job(), journal(tmp_path, line(1), line(2)))
    ledger.forget_expired("local", "billing", {("broker-a", 0): 2, ("broker-a", 1): 9})
    assert [row.offset for row in Redriven.objects.all()] == [2]


def test_a_group_has_one_redrive_at_a_time() -> None:
    first, second = job(), job()
    with pytest.raises(GroupBusy, match=first.id):
        ledger.check_free(second)
    Job.objects.filter(pk=first.pk).update(state=JobState.SUCCEEDED)
    ledger.check_free(second)
