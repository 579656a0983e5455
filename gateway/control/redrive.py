"""Sending dead letters of a group again: a dry run, and the job."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping
from typing import Any, Final

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.errors import TopicNotFound, Unreachable
from broker_core.protocol.dead_letters import DeadLetterFilter
from broker_core.protocol.topics import dead_letter_topic, retry_topic
from console.accounts.permissions import actor_of, allows, needs, require
from console.accounts.rights import Resource
from console.clusters.connections import ask
from console.errors import Conflict
from console.jobs import services
from console.jobs.models import Job, JobType
from console.jobs.requests import plain
from console.jobs.serializers import JobSerializer
from console.jobs.shapes import shape_of
from console.jobs.visibility import require_redrive
from console.redrives import ledger
from console.redrives.ledger import Place
from console.redrives.requests import MOST_MESSAGES, USUAL_PER_SECOND, RedriveSerializer
from console.shapes import as_json, serializer_of
from gateway.control.dead_letters import GroupOfDeadLettersView
from gateway.control.messages import missing_of
from gateway.control.redrive_shapes import RedriveGroup, RedrivePreview, RedriveTopic
from gateway.control.redrive_survey import READ_SECONDS, Survey, Surveyed, by_topic, survey

_ASK_SECONDS: Final = READ_SECONDS + 14
_SHOWN: Final = 10


class NothingToRedrive(APIException):
    """No dead letter is chosen, or all chosen ones were sent again before."""

    status_code = 422
    default_code = "no_effect"


class RedriveView(GroupOfDeadLettersView):
    """Dead letters of a group, sent again."""

    permission_classes = (needs("redrive"),)

    @extend_schema(
        operation_id="redriveDeadLetters",
        tags=["dead letters"],
        request=RedriveSerializer,
        responses={200: serializer_of(RedrivePreview), 202: JobSerializer},
    )
    def post(self, request: Request, cluster: str, group: str) -> Response:
        """Start a job that sends copies of chosen dead letters; with `dry_run`, only say what it would do."""
        form = RedriveSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        asked = form.validated_data
        asked["limits"] = {"messages_per_second": USUAL_PER_SECOND, "max_messages": MOST_MESSAGES} | asked.get(
            "limits", {}
        )
        require_redrive(request, group, asked["target"])
        if asked["target"]["to"] == "other":
            require(request, "produce", Resource("topic", asked["target"]["topic"]))
        found = self._survey(group, asked)
        preview = self._preview(request, group, asked, found)
        targets = [each.topic for each in preview.topics]
        if asked["target"]["to"] == "origin":
            for topic in targets:
                require(request, "produce", Resource("topic", topic))
        if asked["dry_run"]:
            return Response(as_json(preview))
        _check(group, asked, preview)
        job = self._start(request, group, asked, targets)
        return Response(as_json(shape_of(job)), status=202, headers={"Location": f"/api/v1/jobs/{job.id}"})

    def _survey(self, group: str, asked: Mapping[str, Any]) -> Survey:
        wanted = _filter(asked["filter"])
        try:
            return ask(self.cluster, lambda admin: survey(admin, group, wanted, asked["target"]), seconds=_ASK_SECONDS)
        except (TopicNotFound, Unreachable) as error:
            self.check_absence(group, error)
            return Survey()

    def _preview(self, request: Request, group: str, asked: Mapping[str, Any], found: Survey) -> RedrivePreview:
        known = ledger.find(self.cluster, group, [each.place for each in found.chosen])
        new, skipped = _new_ones(found.chosen, known, asked["limits"]["max_messages"])
        visible = [name for name in sorted(found.groups) if allows(request, "read", Resource("group", name))]
        topic = dead_letter_topic(group)
        missing = missing_of(self.cluster, topic, found.page.asked, {**found.stats.failed, **found.page.failed})
        return RedrivePreview(
            messages=len(new),
            bytes=sum(each.body_bytes for each in new),
            causes=len({each.letter.cause for each in new}),
            failing=found.failing(new),
            skipped=skipped,
            takes_ms=len(new) * 1000 // asked["limits"]["messages_per_second"],
            topics=[
                RedriveTopic(topic=name, messages=count, refused=found.refused.get(name))
                for name, count in sorted(by_topic(new).items())
            ],
            groups=[
                RedriveGroup(name=name, topics=sorted(found.groups[name]), failed=name == group) for name in visible
            ],
            hidden_groups=len(found.groups) - len(visible),
            needs_allow_live_target=bool(_others(found.groups, group)),
            warning=_warning(group, found) if new and asked["target"]["to"] == "failed_group" else None,
            first=[each.letter for each in new[:_SHOWN]],
            last=[each.letter for each in _tail(new)],
            read=found.read,
            stored=None if missing else found.stored,
            complete=found.is_whole and not missing,
            missing=missing,
        )

    def _start(self, request: Request, group: str, asked: Mapping[str, Any], targets: list[str]) -> Job:
        """Queue the job; raise Conflict while another one of the group waits or runs."""
        wanted = {name: asked[name] for name in ("filter", "target", "limits", "originals")}
        document = plain(
            {"type": JobType.REDRIVE, "cluster": self.cluster, "group": group, **wanted, "topics": targets}
        )
        first = self.ask(lambda admin: admin.topics.stats(dead_letter_topic(group))).queues
        with ledger.one_start(self.cluster, group):
            try:
                ledger.check_group_free(self.cluster, group)
            except ledger.GroupBusy as error:
                raise Conflict(str(error)) from error
            ledger.forget_expired(
                self.cluster, group, {(q.broker_name, q.queue_id): ends.min_offset for q, ends in first.items()}
            )
            return services.create(actor_of(request), document)


def _check(group: str, asked: Mapping[str, Any], preview: RedrivePreview) -> None:
    """Raise NothingToRedrive or Conflict for a redrive that must not begin."""
    if not preview.messages and preview.complete:
        before = f"; {preview.skipped:,} were sent again before" if preview.skipped else ""
        raise NothingToRedrive(f"No dead letter of group {group!r} is left to send: none matches{before}.")
    refused = [each.refused for each in preview.topics if each.refused]
    if refused and preview.failing == preview.messages:
        raise Conflict(f"None of the {preview.messages:,} dead letters can be sent: {'; '.join(refused)}.")
    if preview.needs_allow_live_target and not asked["allow_live_target"]:
        names = [each.name for each in preview.groups if not each.failed]
        hidden = [f"{preview.hidden_groups} that you may not read"] if preview.hidden_groups else []
        who = ", ".join([*names, *hidden])
        raise Conflict(f"Other groups will see the copies too: {who}. Send allow_live_target: true if they may.")


def _warning(group: str, found: Survey) -> str | None:
    """Return a sentence unless a native client is there: no lease of a topic hands out the group's retries."""
    if found.members:
        return None
    seen = "It is not known whether a native client of" if found.members is None else "No native client of"
    return (
        f"{seen} group {group!r} is connected. Consumers by lease get these copies only if they receive from topic "
        f"{retry_topic(group)!r}; otherwise send to the topics they came from."
    )


def _filter(asked: Mapping[str, Any]) -> DeadLetterFilter:
    begin, end = asked.get("from"), asked.get("to")
    return DeadLetterFilter(
        causes=_tuple(asked.get("causes")),
        topics=_tuple(asked.get("topics")),
        ids=None if "ids" not in asked else frozenset(asked["ids"]),
        key=asked.get("key"),
        begin_ms=None if begin is None else int(begin.timestamp() * 1000),
        end_ms=None if end is None else int(end.timestamp() * 1000),
    )


def _tuple(words: list[Any] | None) -> tuple[Any, ...] | None:
    return None if words is None else tuple(words)


def _others(groups: Collection[str], group: str) -> list[str]:
    return [name for name in groups if name != group]


def _new_ones(chosen: list[Surveyed], known: Container[Place], limit: int) -> tuple[list[Surveyed], int]:
    """Return those that a job would send, and how many it would pass that are known: they were sent before."""
    places = [at for at, each in enumerate(chosen) if each.place not in known][:limit]
    new = [chosen[at] for at in places]
    passed = places[-1] + 1 if len(new) == limit else len(chosen)
    return new, passed - len(new)


def _tail(letters: list[Surveyed]) -> list[Surveyed]:
    """Return the last ones, without those that are among the first ones."""
    return letters[_SHOWN:][-_SHOWN:]
