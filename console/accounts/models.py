"""Users with their roles, and the tokens by which programs act for them."""

from __future__ import annotations

import msgspec
from django.contrib.auth.models import AbstractUser
from django.db import models

from console.accounts.rules import RoleRules, Rule


class RoleChoice(models.TextChoices):
    """The roles of users; `rights.ROLE_VERBS` has the verbs of each."""

    ADMIN = "admin"
    OPERATOR = "operator"
    DEVELOPER = "developer"
    VIEWER = "viewer"


class Role(models.Model):
    """A role that an admin made; `rules` holds the fields of `rules.Rule`. The built-in roles have no row."""

    name = models.CharField(max_length=64, unique=True)
    description = models.CharField(max_length=200, blank=True, default="")
    rules = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def compiled(self) -> RoleRules:
        """Return the role with its rules."""
        return RoleRules(self.name, tuple(msgspec.convert(self.rules, list[Rule])))


class User(AbstractUser):
    """A person, or a service that signs in, with a built-in role, roles of one's own, or both."""

    role = models.CharField(max_length=16, choices=RoleChoice.choices, default=RoleChoice.VIEWER, blank=True)
    own_roles = models.ManyToManyField(Role, related_name="users")
    language = models.CharField(max_length=8, blank=True, default="")

    class Meta(AbstractUser.Meta):
        ordering = ["username"]

    def __str__(self) -> str:
        return self.username

    @property
    def built_in_role(self) -> str | None:
        """The built-in role, or None."""
        return self.role or None

    @property
    def names_of_own_roles(self) -> list[str]:
        """The names of the roles that are not built in, sorted."""
        return sorted(role.name for role in self.own_roles.all())

    @property
    def rules_of_own_roles(self) -> tuple[RoleRules, ...]:
        """The rules of the roles that are not built in, in the order of their names; reads the database once."""
        return tuple(role.compiled() for role in sorted(self.own_roles.all(), key=lambda role: role.name))


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
    # With the time, so as seldom as that.
    last_used_address = models.CharField(max_length=64, blank=True, default="")

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="one_token_per_name")]

    def __str__(self) -> str:
        return f"{self.name} (gty_{self.key}_…)"

    @property
    def prefix(self) -> str:
        """The part of the token's text that may be shown, by which its holder recognizes it."""
        return f"gty_{self.key}"
