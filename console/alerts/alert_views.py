"""Alerts over HTTP."""

from __future__ import annotations

from typing import Final

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from console.accounts.permissions import actor_of, needs
from console.accounts.rights import ANYTHING, Unnamed
from console.alerts import alerts
from console.alerts.alert_shapes import (
    SHOWN_WORDS,
    AcknowledgeSerializer,
    AlertCountsSerializer,
    AlertSerializer,
)
from console.alerts.models import Alert, AlertState
from console.alerts.visibility import OfSomeNames, check_changeable, check_visible, visible_alerts
from console.paging import PAGE_PARAMETERS, page_of, page_queryset, page_sequence
from console.rows import row_of
from console.shapes import as_json

AlertPage = page_of(AlertSerializer)
_TAGS = ["alerts"]
_STATE: Final = OpenApiParameter(
    "state",
    {"type": "string", "enum": ["open", *SHOWN_WORDS], "default": "open"},
    description="As shown; `open` is all but `resolved`.",
)
_NAMED: Final = [
    OpenApiParameter("rule", str, description="Id of a rule."),
    OpenApiParameter("cluster", str),
    OpenApiParameter("subject", str),
]


class AlertsView(OfSomeNames):
    """All alerts."""

    permission_classes = (needs("read"),)

    @extend_schema(
        operation_id="listAlerts", tags=_TAGS, parameters=[_STATE, *_NAMED, *PAGE_PARAMETERS], responses=AlertPage
    )
    def get(self, request: Request) -> Response:
        """List the alerts: open ones with firing first, resolved ones the newest first."""
        state = request.query_params.get("state", "open")
        if state not in ("open", *SHOWN_WORDS):
            raise ValidationError({"state": f"must be open or one of {', '.join(SHOWN_WORDS)}"})
        named = {name: request.query_params[name] for name in ("cluster", "subject") if name in request.query_params}
        rows = visible_alerts(request, Alert.objects.filter(**named))
        if "rule" in request.query_params:
            rows = rows.filter(rule_id=request.query_params["rule"])
        if state == AlertState.RESOLVED:
            page = page_queryset(request, rows.filter(state=state).select_related("rule"))
            return Response(as_json(page.of(alerts.shapes_of(page.items))))
        found = alerts.open_alerts(rows, None if state == "open" else state)
        return Response(as_json(page_sequence(request, found, key=lambda alert: alert.id)))


class AlertCountsView(OfSomeNames):
    """How many alerts there are."""

    permission_classes = (needs("read"),)

    @extend_schema(operation_id="countAlerts", tags=_TAGS, responses=AlertCountsSerializer)
    def get(self, request: Request) -> Response:
        """Return how many alerts there are in each state."""
        return Response(as_json(alerts.counts(visible_alerts(request, Alert.objects.all()))))


class AlertView(OfSomeNames):
    """One alert."""

    permission_classes = (needs("read"),)

    @extend_schema(operation_id="getAlert", tags=_TAGS, responses=AlertSerializer)
    def get(self, request: Request, alert_id: str) -> Response:
        """Return an alert."""
        return _shown(check_visible(request, _alert(alert_id)))


class _CareView(OfSomeNames):
    """The right is needed on the subject of the alert; on which one, the views ask when they know it."""

    permission_classes = (needs("manage"),)

    def right_resource(self) -> Unnamed:
        """Return anything."""
        return ANYTHING


class AcknowledgeView(_CareView):
    """Taking care of an alert."""

    @extend_schema(
        operation_id="acknowledgeAlert", tags=_TAGS, request=AcknowledgeSerializer, responses=AlertSerializer
    )
    def post(self, request: Request, alert_id: str) -> Response:
        """Note that you take care of an alert: it is not told again until it is resolved, or until a moment."""
        form = AcknowledgeSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        check_changeable(request, _alert(alert_id))
        return _shown(alerts.acknowledge(actor_of(request), alert_id, **form.validated_data))


class UnacknowledgeView(_CareView):
    """Taking an acknowledgement back."""

    @extend_schema(operation_id="unacknowledgeAlert", tags=_TAGS, request=None, responses=AlertSerializer)
    def post(self, request: Request, alert_id: str) -> Response:
        """Take the acknowledgement of an alert back: it is told again."""
        check_changeable(request, _alert(alert_id))
        return _shown(alerts.unacknowledge(actor_of(request), alert_id))


def _alert(alert_id: str) -> Alert:
    return row_of(Alert.objects.select_related("rule"), alert_id)


def _shown(alert: Alert) -> Response:
    return Response(as_json(alerts.shapes_of([alert])[0]))
