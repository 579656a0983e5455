"""The table of what controllers decided about broker names, as the console saw it."""

from __future__ import annotations

from django.db import models

from console.clusters.models import Cluster


class SeenDecision(models.Model):
    """A state of a broker name that differs from the one before it in epoch, master, in-sync set or replicas."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="seen_decisions")
    broker = models.CharField(max_length=255)
    epoch = models.BigIntegerField()
    # Of the state: it grows with each change, within an epoch.
    version = models.BigIntegerField()
    # Null while there is none.
    master_id = models.BigIntegerField(null=True)
    in_sync = models.JSONField(default=list)
    # Null of states that were seen before these were kept.
    replicas = models.JSONField(null=True)
    # In the words of the controller `by`; `decided_at` is null if it told no time.
    why = models.TextField(default="")
    by = models.CharField(max_length=255, default="")
    decided_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField()

    class Meta:
        verbose_name = "decision"
        ordering = ["-pk"]
        indexes = [models.Index(fields=["cluster", "broker", "-id"], name="decisions_of_a_name")]

    def __str__(self) -> str:
        return f"{self.broker} epoch {self.epoch}"
