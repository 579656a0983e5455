"""The clusters that the console knows: a name, the name servers behind it, and the brokers once seen there."""

from __future__ import annotations

from django.db import models


class ClusterKind(models.TextChoices):
    """The broker that Gantry itself runs, or an Apache RocketMQ cluster elsewhere."""

    EMBEDDED = "embedded"
    ROCKETMQ = "rocketmq"


class Cluster(models.Model):
    """A cluster is defined by its name servers; everything else is asked from its brokers."""

    name = models.CharField(max_length=64, unique=True)
    kind = models.CharField(max_length=16, choices=ClusterKind.choices, default=ClusterKind.ROCKETMQ)
    name_servers = models.JSONField(default=list)
    # Announced host:port to the one that this host can reach.
    address_map = models.JSONField(default=dict)
    # The account with which requests are signed; empty for none. Nobody is shown the secret again.
    access_key = models.CharField(max_length=200, default="", blank=True)
    secret_key = models.CharField(max_length=200, default="", blank=True)
    # How to connect with TLS (console/clusters/tls.py), with the key of the client certificate; null: in plaintext.
    tls = models.JSONField(default=None, null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class KnownBroker(models.Model):
    """A broker once seen in a cluster, with its content: it counts as missing until an operator removes it."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="known_brokers")
    name = models.CharField(max_length=255)
    # Broker id (as text) to host:port; 0 is the master.
    addresses = models.JSONField(default=dict)
    # Broker id to the address of each process that was ever listed, and when it last was (ISO 8601).
    processes = models.JSONField(default=dict)
    # Topic to its read queues, write queues and permission there, its kind, and its message type if one is declared.
    topics = models.JSONField(default=dict)
    # Consumer group to the topics in which it has offsets there.
    groups = models.JSONField(default=dict)
    # The identity of its data folder; empty for one that tells none, as Apache RocketMQ.
    store_id = models.TextField(default="")
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()

    class Meta:
        ordering = ["cluster", "name"]
        constraints = [models.UniqueConstraint(fields=["cluster", "name"], name="one_row_for_each_known_broker")]

    def __str__(self) -> str:
        return f"{self.cluster_id} {self.name}"
