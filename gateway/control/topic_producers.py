"""The producers of a topic: those that its brokers saw send, and those that are only connected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from drf_spectacular.utils import extend_schema
from msgspec import Meta, Struct
from msgspec.structs import replace
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin import Admin
from broker_core.client.admin.topics import TopicProducer as Registered
from broker_core.client.answers import Answers
from broker_core.protocol.bodies.groups import SendingProducer, TopicProducersBody
from broker_core.protocol.versions import version_name
from console.clusters.connections import GATEWAY_GROUP
from console.clusters.reasons import reason_of
from console.moments import Moment, rfc3339
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import ClusterScopedView

Key = tuple[str, str]
"""Producer group, and client id or, of a client without one, its address; empty for the gateway."""


class TopicProducer(Struct, frozen=True, kw_only=True):
    """A producer that sends to the topic, or is connected to its brokers."""

    group: str
    client_id: Annotated[str | None, Meta(description="Null for the gateway, and for a client that sent no heartbeat.")]
    client_ids: Annotated[list[str], Meta(description="All that the row stands for: each gateway process has one.")]
    is_gateway: Annotated[bool, Meta(description="Whether it is the gateway, which sends for all callers over HTTP.")]
    is_connected: Annotated[bool, Meta(description="Whether it is a member of its producer group now.")]
    address: str
    language: str | None
    version: str
    sends: Annotated[
        Literal["seen", "none", "unknown"],
        Meta(description="Whether messages of it were stored since counting began; unknown if a broker does not tell."),
    ]
    messages: Annotated[
        int | None,
        Meta(
            description="Stored since counting began, by `counted_since` at the latest; null if a broker does not tell."
        ),
    ]
    last_send_at: Annotated[Moment | None, Meta(description="The last on the brokers that tell.")]
    rate: Annotated[
        float | None,
        Meta(description="Messages a second over the last minute; null if a broker does not tell or just started."),
    ]
    unknown_reason: Annotated[str | None, Meta(description="Why it is not known what it sends.")]


class TopicProducers(Struct, frozen=True, kw_only=True):
    """All producers of a topic, the last to send first."""

    items: list[TopicProducer]
    counted_since: Annotated[
        Moment | None,
        Meta(
            description="From when on every broker of the topic counted sends: the last start of one. Null if unknown."
        ),
    ]


class TopicProducersView(ClusterScopedView):
    """The producers of a topic."""

    resource_argument = "topic"

    @extend_schema(operation_id="listTopicProducers", tags=["topics"], responses=serializer_of(TopicProducers))
    def get(self, request: Request, cluster: str, topic: str) -> Response:
        """List the producers that the topic's brokers saw send, and those that are only connected to them."""

        async def question(admin: Admin) -> TopicProducers:
            registered = (await admin.topics.producers(topic)).raise_if_none()
            return producers_of(registered.found, await admin.topics.sending_producers(topic))

        shown = self.ask(question)
        if not self.sight.is_whole("topic"):
            # Who is connected and does not send here, sends to topics that the caller may not know.
            shown = replace(shown, items=[each for each in shown.items if each.sends != "none"])
        return Response(as_json(shown))


@dataclass(slots=True)
class _Row:
    """What is known of one producer on all brokers."""

    registered: list[Registered] = field(default_factory=list)
    sent: list[SendingProducer] = field(default_factory=list)


def producers_of(registered: Mapping[str, list[Registered]], sending: Answers[TopicProducersBody]) -> TopicProducers:
    """Return the producers from the answers of the brokers, each once, the last to send first."""
    rows: dict[Key, _Row] = {}
    for known in (each for several in registered.values() for each in several):
        rows.setdefault(_key(known.group, known.info.client_id), _Row()).registered.append(known)
    for body in sending.found.values():
        for sent in body.producers:
            rows.setdefault(_key(sent.group, sent.client_id or sent.address), _Row()).sent.append(sent)
    reason = next((reason_of(error) for error in sending.failed.values()), None)
    shown = [_shown(key, row, reason) for key, row in sorted(rows.items())]
    shown.sort(key=lambda each: each.last_send_at or "", reverse=True)
    since = max((body.since for body in sending.found.values()), default=None) if reason is None else None
    return TopicProducers(items=shown, counted_since=None if since is None else rfc3339(since))


def _key(group: str, client: str) -> Key:
    return group, "" if group == GATEWAY_GROUP else client


def _shown(key: Key, row: _Row, reason: str | None) -> TopicProducer:
    group, ids = key[0], sorted({name for name in _ids(row) if name})
    is_gateway = group == GATEWAY_GROUP
    last = max(row.sent, key=lambda each: each.last_send_at, default=None)
    address, language, version = _origin(row, last)
    return TopicProducer(
        group=group,
        client_id=None if is_gateway or not ids else ids[0],
        client_ids=ids,
        is_gateway=is_gateway,
        is_connected=bool(row.registered),
        address=address,
        language=language,
        version=version_name(version),
        sends="seen" if last is not None else "none" if reason is None else "unknown",
        messages=sum(each.messages for each in row.sent) if reason is None else None,
        last_send_at=None if last is None else rfc3339(last.last_send_at),
        rate=_rate(row) if reason is None else None,
        unknown_reason=reason,
    )


def _ids(row: _Row) -> Iterator[str]:
    yield from (each.info.client_id for each in row.registered)
    yield from (each.client_id for each in row.sent)


def _origin(row: _Row, last: SendingProducer | None) -> tuple[str, str | None, int]:
    """Return address, language and version of the newest connection that is known."""
    if row.registered:
        newest = max(row.registered, key=lambda each: each.info.last_update_timestamp)
        return newest.address, newest.info.language, newest.info.version
    assert last is not None
    return last.address, last.language, last.version


def _rate(row: _Row) -> float | None:
    """Return the sum of the brokers' rates; None if one of them is not known yet."""
    rates = [each.rate for each in row.sent if each.rate is not None]
    return round(sum(rates), 3) if len(rates) == len(row.sent) else None
