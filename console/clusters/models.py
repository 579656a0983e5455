"""The clusters that the console knows: a name and the name servers behind it."""

from __future__ import annotations

from django.db import models


class ClusterKind(models.TextChoices):
    """The broker that Gantry itself runs, or an Apache RocketMQ cluster elsewhere."""

    EMBEDDED = "embedded"
    ROCKETMQ = "rocketmq"


class Cluster(models.Model):
    """A cluster is its name servers; what else there is to know is asked from its brokers."""

    name = models.CharField(max_length=64, unique=True)
    kind = models.CharField(max_length=16, choices=ClusterKind.choices, default=ClusterKind.ROCKETMQ)
    name_servers = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
