"""The rules for names of topics and groups, for programs that ask users for a name."""

from __future__ import annotations

from typing import Annotated, Final

from drf_spectacular.utils import extend_schema
from msgspec import Meta, Struct
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.protocol.topics import DEAD_LETTER_PREFIX, MAX_GROUP_NAME, MAX_TOPIC_NAME, RETRY_PREFIX
from console.api_view import ApiView
from console.shapes import as_json, serializer_of
from gateway.control.group_shapes import GROUP_NAME
from gateway.control.topic_shapes import TOPIC_NAME


class NameRule(Struct, frozen=True):
    """The names that users may choose."""

    pattern: Annotated[str, Meta(description="A regular expression for the whole name, including its length.")]
    max_length: int


class Naming(Struct, frozen=True, kw_only=True):
    """The rules for names of topics and groups."""

    topic: NameRule
    group: NameRule
    retry_prefix: Annotated[str, Meta(description="Followed by a group's name: the topic of its retries.")]
    dead_letter_prefix: Annotated[str, Meta(description="Followed by a group's name: the topic of its dead letters.")]


NAMING: Final = Naming(
    topic=NameRule(TOPIC_NAME, MAX_TOPIC_NAME),
    group=NameRule(GROUP_NAME, MAX_GROUP_NAME),
    retry_prefix=RETRY_PREFIX,
    dead_letter_prefix=DEAD_LETTER_PREFIX,
)


class NamingView(ApiView):
    """The rules for names."""

    @extend_schema(operation_id="getNaming", tags=["topics"], responses=serializer_of(Naming))
    def get(self, request: Request) -> Response:
        """Return the rules for names of topics and groups; names that brokers reserve are refused too."""
        return Response(as_json(NAMING))
