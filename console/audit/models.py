"""The audit: its rows are added and read, never changed or deleted."""

from __future__ import annotations

from typing import Any, NoReturn

from django.db import models


class AppendOnly(TypeError):
    """Code tried to change or delete a row of the audit."""


class AuditQuerySet(models.QuerySet["AuditRecord"]):
    """Rows of the audit for filtering and reading; changes raise."""

    def update(self, **_: Any) -> NoReturn:
        """Raise AppendOnly."""
        raise AppendOnly("audit records are never changed")

    def delete(self) -> NoReturn:
        """Raise AppendOnly."""
        raise AppendOnly("audit records are never deleted")


class AuditRecord(models.Model):
    """A change or an attempt: actor, action, resource, result, and the state before and after."""

    at = models.DateTimeField(db_index=True)
    actor = models.CharField(max_length=150, db_index=True)
    token = models.CharField(max_length=100, null=True)
    action = models.CharField(max_length=64, db_index=True)
    resource = models.CharField(max_length=400, db_index=True)
    result = models.CharField(max_length=16)
    request_id = models.CharField(max_length=64, blank=True)
    address = models.CharField(max_length=64, blank=True, default="")
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)

    objects = AuditQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%dT%H:%M:%SZ} {self.actor} {self.action} {self.resource}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert a new row; refuse to overwrite an existing one."""
        if not self._state.adding:
            raise AppendOnly("audit records are never changed")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise AppendOnly."""
        raise AppendOnly("audit records are never deleted")
