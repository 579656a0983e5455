"""The note of a topic."""

from __future__ import annotations

from typing import Annotated, Any, Final

from drf_spectacular.utils import extend_schema
from msgspec import Meta, Struct
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from console import etags
from console.accounts.permissions import actor_of
from console.clusters.known_topics import known_topic
from console.fields import moment
from console.moments import Moment
from console.notes import services
from console.notes.markdown import html_of
from console.notes.models import TopicNote
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import ClusterScopedView


class TopicNoteState(Struct, frozen=True, kw_only=True):
    """The note of a topic; blank, by nobody, if there is none."""

    text: Annotated[str, Meta(description="Markdown.")]
    html: Annotated[str, Meta(description="The same as HTML, without any HTML of the text; safe to show.")]
    written_by: str | None
    written_at: Moment | None
    etag: str


class TopicNoteSerializer(serializers.Serializer[Any]):
    """The text of a note; a blank one removes it."""

    text = serializers.CharField(max_length=services.MOST_CHARACTERS, allow_blank=True, trim_whitespace=False)


_NOTE: Final = serializer_of(TopicNoteState, "TopicNote")


class TopicNoteView(ClusterScopedView):
    """What a team wants everybody to know about a topic."""

    resource_argument = "topic"

    @extend_schema(operation_id="getTopicNote", tags=["topics"], responses=_NOTE)
    def get(self, request: Request, cluster: str, topic: str) -> Response:
        """Return the note of a topic, as Markdown and as HTML."""
        known_topic(cluster, topic)
        return etags.tagged(as_json(_state(services.find(cluster, topic))))

    @extend_schema(
        operation_id="setTopicNote",
        tags=["topics"],
        parameters=[etags.IF_MATCH],
        request=TopicNoteSerializer,
        responses=_NOTE,
    )
    def put(self, request: Request, cluster: str, topic: str) -> Response:
        """Replace the note of a topic; a blank text removes it, and the deletion of the topic does too."""
        known_topic(cluster, topic)
        etags.require(request)
        form = TopicNoteSerializer(data=request.data)
        form.is_valid(raise_exception=True)

        def check(present: TopicNote | None) -> None:
            etags.match(request, {"etag": _tag(present)})

        note = services.write(actor_of(request), cluster, topic, form.validated_data["text"], check)
        return etags.tagged(as_json(_state(note)))


def _state(note: TopicNote | None) -> TopicNoteState:
    if note is None:
        return TopicNoteState(text="", html="", written_by=None, written_at=None, etag=_tag(None))
    return TopicNoteState(
        text=note.text,
        html=html_of(note.text),
        written_by=note.written_by,
        written_at=moment(note.written_at),
        etag=_tag(note),
    )


def _tag(note: TopicNote | None) -> str:
    return etags.etag(None if note is None else [note.pk, note.text, moment(note.written_at)])
