"""Requirements of `console.audit.models`: records are permanent."""

from __future__ import annotations

import pytest
from django.db import transaction

from console.audit.models import AppendOnly, AuditRecord
from console.audit.record import Actor, record


@pytest.fixture
def written(db: None) -> AuditRecord:
    record(Actor("mia", request_id="r1"), "topic.create", "local/topics/orders", after={"queues": 4})
    return AuditRecord.objects.get()


def test_a_record_cannot_be_changed(written: AuditRecord) -> None:
    written.actor = "someone else"
    with pytest.raises(AppendOnly):
        written.save()
    with pytest.raises(AppendOnly):
        AuditRecord.objects.update(actor="someone else")
    assert AuditRecord.objects.get().actor == "mia"


def test_a_record_cannot_be_deleted(written: AuditRecord) -> None:
    with pytest.raises(AppendOnly):
        written.delete()
    with pytest.raises(AppendOnly):
        AuditRecord.objects.filter(actor="mia").delete()
    assert AuditRecord.objects.count() == 1


def test_a_record_stands_or_falls_with_its_change(db: None) -> None:
    @transaction.atomic
    def change() -> None:
        record(Actor.system("test"), "topic.create", "local/topics/orders")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        change()
    assert not AuditRecord.objects.exists()
