"""Users with one role each, and the tokens by which programs act for them."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models


class RoleChoice(models.TextChoices):
    """The roles of users; `rights.ROLE_VERBS` has the verbs of each."""

    ADMIN = "admin"
    OPERATOR = "operator"
    DEVELOPER = "developer"
    VIEWER = "viewer"


class User(AbstractUser):
    """A person, or a service that signs in, with one role."""

    role = models.CharField(max_length=16, choices=RoleChoice.choices, default=RoleChoice.VIEWER)
    language = models.CharField(max_length=8, blank=True, default="")

    class Meta(AbstractUser.Meta):
        ordering = ["username"]

    def __str__(self) -> str:
        return self.username


class Token(models.Model):
    """A bearer token ``gty_<key>_<secret>``; of the secret only the SHA-256 of the whole text is kept."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    key = models.CharField(max_length=16, unique=True)
    digest = models.CharField(max_length=64)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="one_token_per_name")]

    def __str__(self) -> str:
        return f"{self.name} (gty_{self.key}_…)"

    @property
    def prefix(self) -> str:
        """The part of the token's text that may be shown, by which its holder recognizes it."""
        return f"gty_{self.key}"
