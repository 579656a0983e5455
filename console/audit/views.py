"""Reading the audit."""

from __future__ import annotations

from typing import Final

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from console.accounts.permissions import needs
from console.api_view import ApiView
from console.audit.models import AuditRecord
from console.audit.serializers import AuditRecordSerializer
from console.paging import PAGE_PARAMETERS, page_of, page_queryset

AuditPage = page_of(AuditRecordSerializer)

# A filter that ends with * matches a prefix: action=topic.*
_FILTERS: Final = ("actor", "action", "resource")


class AuditView(ApiView):
    """The record of changes."""

    permission_classes = (needs("manage"),)

    @extend_schema(
        operation_id="listAudit",
        tags=["audit"],
        parameters=[
            *PAGE_PARAMETERS,
            *(OpenApiParameter(name, str, description="Exact, or a prefix followed by `*`.") for name in _FILTERS),
        ],
        responses=AuditPage,
    )
    def get(self, request: Request) -> Response:
        """List changes, the newest first."""
        rows = AuditRecord.objects.all()
        for name in _FILTERS:
            wanted = request.query_params.get(name, "")
            if wanted.endswith("*"):
                rows = rows.filter(**{f"{name}__startswith": wanted[:-1]})
            elif wanted:
                rows = rows.filter(**{name: wanted})
        page = page_queryset(request, rows)
        return Response(AuditPage({"items": page.items, "next_cursor": page.next_cursor, "total": None}).data)
