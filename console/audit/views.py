"""Reading the audit."""

from __future__ import annotations

from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from console.accounts.permissions import SignedIn, actor_of
from console.api_view import ApiView
from console.audit.export import MEDIA_TYPES, lines
from console.audit.models import AuditRecord
from console.audit.record import record
from console.audit.search import SEARCH_PARAMETERS, found
from console.audit.serializers import AuditPageSerializer
from console.audit.visibility import sees_all, visible
from console.paging import PAGE_PARAMETERS, page_queryset


class AuditView(ApiView):
    """The record of changes."""

    permission_classes = (SignedIn,)

    @extend_schema(
        operation_id="listAudit",
        tags=["audit"],
        parameters=[*PAGE_PARAMETERS, *SEARCH_PARAMETERS],
        responses=AuditPageSerializer,
    )
    def get(self, request: Request) -> Response:
        """List changes, the newest first: all of them with `manage` on everything, else those of the caller."""
        page = page_queryset(request, visible(request, found(request)))
        return Response(AuditPageSerializer(page, context={"limited": not sees_all(request)}).data)


class CsvRenderer(BaseRenderer):
    """Lets a request accept CSV; the answer is streamed, not rendered."""

    media_type = MEDIA_TYPES["csv"]
    format = "csv"


class LinesRenderer(BaseRenderer):
    """Lets a request accept JSON Lines; the answer is streamed, not rendered."""

    media_type = MEDIA_TYPES["jsonl"]
    format = "jsonl"


class AuditExportView(ApiView):
    """The record of changes as a file."""

    permission_classes = (SignedIn,)
    renderer_classes = (JSONRenderer, CsvRenderer, LinesRenderer)

    @extend_schema(
        operation_id="exportAudit",
        tags=["audit"],
        parameters=[OpenApiParameter("as", str, enum=list(MEDIA_TYPES), default="csv"), *SEARCH_PARAMETERS],
        responses={(200, kind): OpenApiTypes.STR for kind in MEDIA_TYPES.values()},
    )
    def get(self, request: Request) -> HttpResponseBase:
        """Return the matching changes of the list as CSV or JSON Lines, newest first; the export is recorded too."""
        form = request.query_params.get("as", "csv")
        if form not in MEDIA_TYPES:
            raise ValidationError({"as": f"must be one of {', '.join(MEDIA_TYPES)}, not {form[:60]!r}"})
        rows = visible(request, found(request))
        newest = AuditRecord.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        record(actor_of(request), "audit.export", "audit", after={"query": request.query_params.dict()})
        response = StreamingHttpResponse(lines(rows, form, newest), content_type=f"{MEDIA_TYPES[form]}; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="audit.{form}"'
        response["X-Accel-Buffering"] = "no"
        return response
