"""The tables of offset changes: plans that wait for their application, and the offsets before each change."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from console.jobs.models import new_id


class OffsetPlan(models.Model):
    """A previewed change. `rows` are those of the preview (`console.offsets.shapes.PlannedQueue`)."""

    id = models.CharField(primary_key=True, max_length=16, default=new_id, editable=False)
    cluster = models.CharField(max_length=200)
    group = models.CharField(max_length=255)
    topic = models.CharField(max_length=255)
    mode = models.CharField(max_length=16)
    rows = models.JSONField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(db_index=True)
    applied_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.group} {self.topic} {self.mode}"


class OffsetSnapshot(models.Model):
    """The offsets of a group in a topic before a change, for its undo (`console.offsets.shapes.MovedQueue`)."""

    id = models.CharField(primary_key=True, max_length=16, default=new_id, editable=False)
    cluster = models.CharField(max_length=200)
    group = models.CharField(max_length=255)
    topic = models.CharField(max_length=255)
    mode = models.CharField(max_length=16)
    rows = models.JSONField()
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    undone_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["cluster", "group", "-id"], name="snapshot_by_group")]

    def __str__(self) -> str:
        return f"{self.group} {self.topic} {self.id}"
