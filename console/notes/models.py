"""The table of topic notes."""

from __future__ import annotations

from django.db import models

from console.clusters.models import Cluster


class TopicNote(models.Model):
    """The note of one topic, in Markdown, with who wrote it last."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="topic_notes")
    topic = models.CharField(max_length=255)
    text = models.TextField()
    written_by = models.CharField(max_length=150)
    written_at = models.DateTimeField()

    class Meta:
        verbose_name = "note"
        constraints = [models.UniqueConstraint(fields=["cluster", "topic"], name="one_note_per_topic")]

    def __str__(self) -> str:
        return self.topic
