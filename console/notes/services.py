"""Changes of topic notes, each written to the audit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from console.audit.record import Actor, record
from console.clusters.models import Cluster
from console.errors import PreconditionFailed
from console.notes.models import TopicNote
from console.rows import unless_taken

MOST_CHARACTERS: Final = 10_000


def find(cluster: str, topic: str) -> TopicNote | None:
    """Return the note of a topic, or None."""
    return _rows(cluster, topic).first()


def write(
    by: Actor, cluster: str, topic: str, text: str, check: Callable[[TopicNote | None], None]
) -> TopicNote | None:
    """Set the note of a topic, or remove it if `text` is blank; return what is there now.

    `check` raises unless the present note is the one to replace. Of several writers at once, one writes and the others
    are refused: PreconditionFailed.
    """
    text = text if text.strip() else ""
    with transaction.atomic():
        found = _rows(cluster, topic).select_for_update().first()
        check(found)
        if found is not None:
            return _replaced(by, found, cluster, text)
    if not text:
        return None
    values = {"text": text, "written_by": by.name, "written_at": timezone.now()}
    with unless_taken(_rows(cluster, topic), PreconditionFailed()):
        made = TopicNote.objects.create(cluster=Cluster.objects.get(name=cluster), topic=topic, **values)
        record(by, "note.update", _resource(cluster, topic), after={"text": text})
    return made


def forget(cluster: str, topic: str) -> None:
    """Remove the note of a topic that was deleted."""
    _rows(cluster, topic).delete()


def _replaced(by: Actor, note: TopicNote, cluster: str, text: str) -> TopicNote | None:
    action = "note.update" if text else "note.delete"
    record(by, action, _resource(cluster, note.topic), before={"text": note.text}, after={"text": text})
    if not text:
        note.delete()
        return None
    note.text, note.written_by, note.written_at = text, by.name, timezone.now()
    note.save()
    return note


def _rows(cluster: str, topic: str) -> QuerySet[TopicNote]:
    return TopicNote.objects.filter(cluster__name=cluster, topic=topic)


def _resource(cluster: str, topic: str) -> str:
    return f"{cluster}/topics/{topic}"
