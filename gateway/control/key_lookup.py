"""Many keys in one search, in one topic or in all that the caller may read."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin import Admin
from broker_core.client.admin.index import MAX_FOUND, KeyLookup, SearchFigures, figures_of
from broker_core.client.admin.replica_reads import FromSlave
from broker_core.client.errors import TopicNotFound, Unreachable
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.protocol.topics import is_system_topic
from console.accounts.deciding import Rights
from console.accounts.permissions import needs, rights_of_request
from console.accounts.rights import Resource
from console.clusters.connections import ask
from console.clusters.memory import aremembered
from console.fields import MomentField, milliseconds
from console.lag.shapes import MissingBroker
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import topic_of_body
from gateway.control.message_shapes import (
    FoundKey,
    KeyLookupAnswer,
    PartialKey,
    Searched,
    Verdict,
    slaves_shown,
    summary_of,
)
from gateway.control.messages import DEFAULT_SPAN_MS, MessageSearchView, missing_of, searched_of
from gateway.control.search import together

MOST_KEYS: Final = 1_000
# The brokers answer a few thousand questions a second; the keys that are left are named.
_SECONDS: Final = 8.0
_MOST_MESSAGES: Final = 10_000
_TOO_MUCH: Final = f"the search ended after {_SECONDS:g} s or {_MOST_MESSAGES:,} messages; look this key up again"
_NOT_TOLD: Final = "no name server answers: other brokers may have more"
_DEFAULT_PER_KEY: Final = 10


class KeyLookupSerializer(serializers.Serializer[Any]):
    """Keys, the topic that has them, and the time."""

    topic = serializers.CharField(
        max_length=255, allow_null=True, help_text="Null: all topics that the caller may read, except the brokers' own."
    )
    keys = serializers.ListField(
        child=serializers.CharField(max_length=1_000),
        min_length=1,
        max_length=MOST_KEYS,
        help_text="Keys or unique ids.",
    )
    to = MomentField(required=False, help_text="Stored before this moment; by default until now.")
    per_key = serializers.IntegerField(
        min_value=1,
        max_value=MAX_FOUND,
        default=_DEFAULT_PER_KEY,
        help_text="Messages of one key that each broker returns of a topic.",
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields, with `from`, which Python cannot declare."""
        begin = MomentField(required=False, help_text="Stored at this moment or after it; by default three days ago.")
        return {**super().get_fields(), "from": begin}

    def validate_keys(self, keys: list[str]) -> list[str]:
        """Refuse a key that is given twice."""
        if len(set(keys)) < len(keys):
            twice = next(key for at, key in enumerate(keys) if key in keys[:at])
            raise serializers.ValidationError(f"{twice[:100]!r} is given more than once")
        return keys

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        """Refuse a time that ends before it begins."""
        if "from" in values and "to" in values and values["from"] >= values["to"]:
            raise serializers.ValidationError({"to": "must be after from"})
        return values


class MessagesSearchView(MessageSearchView):
    """Search by one key, or by many."""

    permission_classes = (needs("read"),)
    answer_ms = 0

    def right_resource(self) -> Resource:
        """Return the topic of the query or the body; of all topics, those that the caller may read are searched."""
        if self.request.method == "GET":
            return super().right_resource()
        return topic_of_body(self.request, KeyLookupSerializer)

    @extend_schema(
        operation_id="lookUpKeys",
        tags=["messages"],
        request=KeyLookupSerializer,
        responses=serializer_of(KeyLookupAnswer),
    )
    def post(self, request: Request, cluster: str) -> Response:
        """Find the newest messages of up to 1,000 keys, in one topic or in all; changes nothing."""
        form = KeyLookupSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        wanted = form.validated_data
        end = milliseconds(wanted["to"]) - 1 if "to" in wanted else now_ms()
        begin = milliseconds(wanted["from"]) if "from" in wanted else max(0, end - DEFAULT_SPAN_MS)
        topic = wanted["topic"]
        started = time.perf_counter()

        rights = rights_of_request(request)

        async def question(admin: Admin) -> _Looked:
            # Names come from a name server: what was sampled does not have a topic that was just created.
            topics = [topic] if topic is not None else _readable(await _names(admin, cluster), rights)
            lookup = await admin.messages.key_lookup(
                topics, begin=begin, end=end, limit=wanted["per_key"], with_slaves=True
            )
            return await _look_up(lookup, wanted["keys"])

        try:
            looked = ask(cluster, question, seconds=2 * _SECONDS)
        except (TopicNotFound, Unreachable):
            if topic is None or not missing_of(cluster, topic, ()):
                raise
            looked = _Looked(asked=frozenset())
        missing = missing_of(cluster, topic, looked.asked, looked.failed)
        searched = searched_of(looked.figures or SearchFigures(), begin, end, started)
        return Response(as_json(_answer(looked, wanted["keys"], missing, searched)))


@dataclass(slots=True)
class _Looked:
    """What was found of the keys, without the bodies; keys that are not in it were not looked up."""

    asked: frozenset[str]
    is_told: bool = True
    """Whether a name server told who was to be asked."""
    found: dict[str, FoundKey] = field(default_factory=dict)
    cut_short: set[str] = field(default_factory=set)
    failed: dict[str, GantryError] = field(default_factory=dict)
    figures: SearchFigures | None = None
    slaves: dict[str, FromSlave] = field(default_factory=dict)
    """The slaves that were asked in the place of their masters, by broker name."""


async def _names(admin: Admin, cluster: str) -> list[str]:
    """Return the names of all topics; while no name server answers, those that were seen last."""
    try:
        return await admin.topics.names()
    except Unreachable:
        known = await aremembered(cluster)
        seen = {name for broker in known.brokers.values() for name in broker.topics}
        if not seen:
            raise
        return sorted(seen)


def _readable(names: Iterable[str], rights: Rights) -> list[str]:
    return [name for name in names if not is_system_topic(name) and rights.may("read", Resource("topic", name))]


async def _look_up(lookup: KeyLookup, keys: Sequence[str]) -> _Looked:
    looked, ends, room = _Looked(lookup.asked, lookup.is_told), time.monotonic() + _SECONDS, _MOST_MESSAGES
    for key in keys:
        one = await lookup.find(key, ends=ends if room > 0 else 0.0)
        room -= len(one.messages)
        looked.found[key] = FoundKey(key=key, items=[summary_of(each) for each in one.messages], has_more=one.has_more)
        looked.failed |= one.failed
        looked.slaves |= one.slaves
        looked.figures = together(looked.figures, figures_of(one.answers))
        if one.cut_short:
            looked.cut_short.add(key)
    return looked


def _answer(looked: _Looked, keys: Sequence[str], missing: list[MissingBroker], searched: Searched) -> KeyLookupAnswer:
    slaves = slaves_shown(looked.slaves)
    unsearched = [f"{each.broker} was not searched: {each.reason}" for each in missing]
    lagging = [f"slave {each.broker_id} of {each.broker} may lack the newest messages" for each in slaves]
    silent = "; ".join((*unsearched, *lagging, *([] if looked.is_told else [_NOT_TOLD])))
    partial = [
        PartialKey(key=key, reason=_TOO_MUCH if key in looked.cut_short else silent)
        for key in keys
        if key in looked.cut_short or silent
    ]
    found = [each for each in looked.found.values() if each.items]
    verdict: Verdict = "partial" if partial else "match" if found else "no_match"
    unsure = {each.key for each in partial}
    return KeyLookupAnswer(
        verdict=verdict,
        complete=not partial,
        found=found,
        missing=[key for key in keys if key not in unsure and not looked.found[key].items],
        partial=partial,
        missing_brokers=missing,
        from_slaves=slaves,
        searched=searched,
    )
