"""JSON shape of an audit record."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from console.audit.models import AuditRecord
from console.fields import MomentField
from console.paging import Page, page_of

RESULTS = ["ok", "refused", "failed", "partial"]


class AuditRecordSerializer(serializers.ModelSerializer[AuditRecord]):
    """One change: actor, action and resource, and the state before and after."""

    id = serializers.IntegerField()
    at = MomentField()
    token = serializers.CharField(allow_null=True)
    result = serializers.ChoiceField(RESULTS)
    request_id = serializers.CharField()
    address = serializers.CharField(help_text="Address of the client; empty for automatic changes.")
    before = serializers.DictField(allow_null=True)
    after = serializers.DictField(allow_null=True)

    class Meta:
        model = AuditRecord
        fields = (
            "id",
            "at",
            "actor",
            "token",
            "action",
            "resource",
            "result",
            "request_id",
            "address",
            "before",
            "after",
        )
        read_only_fields = fields


class AuditPageSerializer(page_of(AuditRecordSerializer)):  # type: ignore[misc]
    """A page of the audit."""

    limited = serializers.SerializerMethodField(help_text="Whether these are the records of the caller alone.")

    def get_limited(self, page: Page[Any]) -> bool:
        """Return what the view says."""
        limited: bool = self.context["limited"]
        return limited
