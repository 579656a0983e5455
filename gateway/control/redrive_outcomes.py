"""What became of the dead letters of a redrive, and of their originals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from drf_spectacular.utils import OpenApiParameter, extend_schema
from msgspec import to_builtins
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin import Admin
from broker_core.client.errors import TopicNotFound
from broker_core.errors import GantryError
from broker_core.protocol.bodies.queues import MessageQueue
from console.errors import NotKnown
from console.jobs import errors, services
from console.jobs.models import Job
from console.jobs.views import FilesGone
from console.jobs.visibility import reads_parts
from console.paging import PAGE_PARAMETERS, page_sequence
from console.redrives import ledger
from console.redrives.ledger import Noted
from console.redrives.models import Originals
from console.shapes import as_json, serializer_of
from gateway.control.dead_letters import GroupOfDeadLettersView
from gateway.control.redrive_shapes import OriginalState, RedriveOutcome, RedriveOutcomes

_WORDS: Final = ("redriven", "failed", "skipped", "unknown")

Offsets = Mapping[MessageQueue, int]


class RedriveOutcomesView(GroupOfDeadLettersView):
    """The outcomes of a redrive."""

    @extend_schema(
        operation_id="listRedriveOutcomes",
        tags=["dead letters"],
        parameters=[
            OpenApiParameter("job", str, required=True, description="Id of the redrive."),
            OpenApiParameter("outcome", str, enum=list(_WORDS)),
            *PAGE_PARAMETERS,
        ],
        responses=serializer_of(RedriveOutcomes),
    )
    def get(self, request: Request, cluster: str, group: str) -> Response:
        """List what became of each dead letter of a redrive, the newest first, while it runs too."""
        job, word = self._job(request), request.query_params.get("outcome")
        if word is not None and word not in _WORDS:
            raise serializers.ValidationError({"outcome": f"must be one of {', '.join(_WORDS)}"})
        found = ledger.outcomes(services.folder_of(job))
        rows = [each for each in reversed(found) if word in (None, each.outcome)]
        page = page_sequence(request, rows, key=lambda row: f"{row.place} {row.outcome}")
        offsets = self._offsets({each.topic for each in page.items if each.topic and each.outcome == "redriven"})
        shown = RedriveOutcomes(
            items=[_shown(each, _original(job, each, offsets)) for each in page.items],
            next_cursor=page.next_cursor,
            prev_cursor=page.prev_cursor,
            total=len(rows),
            counts=dict.fromkeys(_WORDS, 0) | Counter(each.outcome for each in found),
        )
        return Response(as_json(shown))

    def _job(self, request: Request) -> Job:
        """Return the job; raise NotKnown if it is no redrive of this group, FilesGone after its retention."""
        wanted, group = request.query_params.get("job", ""), str(self.kwargs["group"])
        if not wanted:
            raise serializers.ValidationError({"job": "is required"})
        job: Job | None = ledger.of_group(self.cluster, group).filter(pk=wanted).first()
        if job is None or not reads_parts(request, job.request):
            raise NotKnown(f"No redrive of group {group!r} has the id {wanted[:40]!r}.")
        if job.files_removed_at is not None:
            raise FilesGone(str(errors.FilesRemoved(job)))
        return job

    def _offsets(self, topics: Iterable[str]) -> Offsets:
        """Return how far the group is in the topics of copies; what is not known is left out."""
        group = str(self.kwargs["group"])

        async def question(admin: Admin) -> Offsets:
            known: dict[MessageQueue, int] = {}
            for topic in topics:
                try:
                    stats = await admin.groups.consume_stats(group, topic=topic)
                except TopicNotFound:
                    continue
                known |= {queue: each.consumer_offset for queue, each in stats.queues.items()}
            return known

        try:
            return self.ask(question)
        except GantryError:
            # The outcomes are known without the brokers; only the originals are then unknown.
            return {}


def _original(job: Job, each: Noted, offsets: Offsets) -> OriginalState:
    if each.outcome != "redriven" or job.request["originals"] == Originals.KEPT:
        return "kept"
    if job.request["target"]["to"] == "other":
        return "kept"
    queue = MessageQueue(each.topic or "", each.target_broker or "", each.target_queue_id or 0)
    consumed = offsets.get(queue)
    if consumed is None or each.target_offset is None:
        return "unknown"
    return "consumed" if consumed > each.target_offset else "waiting"


def _shown(each: Noted, original: OriginalState) -> RedriveOutcome:
    return RedriveOutcome(**to_builtins(each), original=original)
