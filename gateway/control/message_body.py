"""The body of one message as bytes, whole or in parts."""

from __future__ import annotations

import re
from typing import Final

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request

from console.accounts.permissions import needs
from console.errors import Fault, NotServed
from console.etags import etag
from gateway.control.cluster_view import TopicInQueryView
from gateway.control.messages import TOPIC, BodyRangeGone, found_message, needed

BYTES: Final = "application/octet-stream"
_RANGE: Final = re.compile(r"bytes=(\d{0,19})-(\d{0,19})")
RANGE = OpenApiParameter(
    "Range", str, OpenApiParameter.HEADER, description="One range of bytes, such as `bytes=0-65535` or `bytes=-100`."
)


class BytesRenderer(BaseRenderer):
    """Lets a request accept bytes; the answer is not rendered."""

    media_type = BYTES
    format = "bin"
    charset = None


class MessageBodyView(TopicInQueryView):
    """The body of one message."""

    permission_classes = (needs("bodies"),)
    renderer_classes = (JSONRenderer, BytesRenderer)

    @extend_schema(
        operation_id="getMessageBody",
        tags=["messages"],
        parameters=[TOPIC, RANGE],
        responses={
            (200, BYTES): OpenApiTypes.BINARY,
            (206, BYTES): OpenApiTypes.BINARY,
        },
    )
    def get(self, request: Request, cluster: str, message_id: str) -> HttpResponse:
        """Download the body of a message as its bytes, or one range of them; a damaged one as it is stored."""
        message = found_message(self, needed(request, "topic"), message_id).message
        tag = etag([message.offset_id, len(message.body)])
        part = _part_of(request, len(message.body), tag)
        shown = message.body if part is None else message.body[part.start : part.stop]
        # What a producer stored is never shown as a page of this origin.
        answer = HttpResponse(shown, content_type=BYTES, status=200 if part is None else 206)
        answer["Content-Disposition"] = f'attachment; filename="{re.sub(r"[^0-9A-Za-z]", "-", message_id)[:80]}.bin"'
        answer["Accept-Ranges"] = "bytes"
        answer["ETag"] = tag
        if part is not None:
            answer["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{len(message.body)}"
        return answer


def _part_of(request: Request, size: int, tag: str) -> range | None:
    """Return the range that the request wants, None for the whole; raise NotServed or RangeGone."""
    text = request.headers.get("Range")
    if text is None or request.headers.get("If-Range", tag) != tag:
        return None
    found = _RANGE.fullmatch(text.strip())
    if found is None or found.groups() == ("", ""):
        raise NotServed([Fault("Range", "INVALID", "Range must be one range of bytes, such as bytes=0-65535.")])
    first, last = found.groups()
    if first == "":
        part = range(max(0, size - int(last)), size)
    else:
        part = range(int(first), min(size, int(last) + 1 if last else size))
    if not part:
        raise BodyRangeGone(size)
    return part
