"""The table of dead letters that were sent again: brokers cannot mark a stored message."""

from __future__ import annotations

from django.db import models

from console.jobs.models import Job


class Originals(models.TextChoices):
    """What the originals of a redrive count as afterwards; brokers keep them in any case."""

    UNTIL_CONSUMED = "until_consumed"
    KEPT = "kept"


class Redriven(models.Model):
    """A dead letter and its copy."""

    cluster = models.CharField(max_length=200)
    group = models.CharField(max_length=255)
    broker = models.CharField(max_length=255)
    queue_id = models.IntegerField()
    offset = models.BigIntegerField()
    message_id = models.CharField(max_length=255)
    originals = models.CharField(max_length=16, choices=Originals.choices)
    topic = models.CharField(max_length=255)
    target_broker = models.CharField(max_length=255)
    target_queue_id = models.IntegerField()
    target_offset = models.BigIntegerField()
    copy_id = models.CharField(max_length=255)
    at = models.DateTimeField()
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="redriven")

    class Meta:
        constraints = [
            # An offset is used again if its topic is deleted and made anew; the id then tells the messages apart.
            models.UniqueConstraint(
                fields=["cluster", "group", "broker", "queue_id", "offset", "message_id"], name="one_copy_per_letter"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.group} {self.message_id}"
