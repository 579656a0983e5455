"""The table of saved searches."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class SavedSearch(models.Model):
    """A search of messages that its owner named; `query` holds the parameters of the page Messages."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_searches")
    name = models.CharField(max_length=100)
    cluster = models.CharField(max_length=200)
    query = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]
        verbose_name = "saved search"
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="one_search_per_name")]

    def __str__(self) -> str:
        return self.name
