"""Which records of the audit a caller sees: all, or what the caller did, by token only what that token did."""

from __future__ import annotations

from django.db.models import QuerySet
from rest_framework.request import Request

from console.accounts.models import Token
from console.accounts.permissions import allows
from console.accounts.rights import EVERYTHING
from console.audit.models import AuditRecord


def sees_all(request: Request) -> bool:
    """Return whether the caller sees what everybody did."""
    return allows(request, "manage", EVERYTHING)


def visible(request: Request, rows: QuerySet[AuditRecord]) -> QuerySet[AuditRecord]:
    """Return those of the records that the caller sees."""
    if sees_all(request):
        return rows
    mine = rows.filter(actor=request.user.get_username())
    return mine.filter(token=request.auth.name) if isinstance(request.auth, Token) else mine
