"""The table of transaction hooks."""

from __future__ import annotations

from django.db import models

from console.alerts.models import SignedUrl
from console.clusters.models import Cluster
from console.jobs.models import new_id

_ID_LENGTH = 16


class TransactionHook(SignedUrl):
    """Where a cluster's checks of one producer group are posted, and what came of it last."""

    id = models.CharField(primary_key=True, max_length=_ID_LENGTH, default=new_id, editable=False)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="transaction_hooks")
    group = models.CharField(max_length=255)
    enabled = models.BooleanField(default=True)
    # `HookOutcome` of the last check, and of the last one that decided nothing; null: there was none.
    last = models.JSONField(default=None, null=True)
    last_failure = models.JSONField(default=None, null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["group"]
        verbose_name = "transaction hook"
        constraints = [models.UniqueConstraint(fields=["cluster", "group"], name="one_hook_per_producer_group")]

    def __str__(self) -> str:
        return self.group
