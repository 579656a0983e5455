"""The delivery log over HTTP."""

from __future__ import annotations

from typing import Final

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from console.accounts.permissions import actor_of, needs
from console.alerts import delivering
from console.alerts.delivery_shapes import DeliverySerializer, shape_of
from console.alerts.models import Delivery, DeliveryState
from console.api_view import ApiView
from console.paging import PAGE_PARAMETERS, page_of, page_queryset
from console.rows import row_of
from console.shapes import as_json

DeliveryPage = page_of(DeliverySerializer)
_TAGS = ["alerts"]
_FILTERS: Final = {"channel": "channel_id", "rule": "rule_id", "alert": "alerts"}


class DeliveriesView(ApiView):
    """The delivery log."""

    permission_classes = (needs("read"),)

    @extend_schema(
        operation_id="listDeliveries",
        tags=_TAGS,
        parameters=[
            *(OpenApiParameter(name, str, description="An id.") for name in _FILTERS),
            OpenApiParameter("state", str, enum=DeliveryState.values),
            *PAGE_PARAMETERS,
        ],
        responses=DeliveryPage,
    )
    def get(self, request: Request) -> Response:
        """List the deliveries of alerts, the newest first, with every attempt."""
        query = request.query_params
        rows = Delivery.objects.filter(**{field: query[name] for name, field in _FILTERS.items() if name in query})
        if "state" in query:
            if query["state"] not in DeliveryState.values:
                raise ValidationError({"state": f"must be one of {', '.join(DeliveryState.values)}"})
            rows = rows.filter(state=query["state"])
        page = page_queryset(request, rows)
        return Response(as_json(page.of([shape_of(each) for each in page.items])))


class DeliveryView(ApiView):
    """One delivery."""

    permission_classes = (needs("read"),)

    @extend_schema(operation_id="getDelivery", tags=_TAGS, responses=DeliverySerializer)
    def get(self, request: Request, delivery_id: str) -> Response:
        """Return a delivery."""
        return Response(as_json(shape_of(row_of(Delivery.objects.all(), delivery_id))))


class RetryDeliveryView(ApiView):
    """Another attempt."""

    permission_classes = (needs("manage"),)

    @extend_schema(operation_id="retryDelivery", tags=_TAGS, request=None, responses={202: DeliverySerializer})
    def post(self, request: Request, delivery_id: str) -> Response:
        """Try a delivery now that waits or was given up."""
        return Response(as_json(shape_of(delivering.again(actor_of(request), delivery_id))), status=202)
