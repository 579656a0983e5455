"""The known cast: one user for each role, all with one password, and clients that act for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from django.contrib.auth.hashers import make_password
from rest_framework.test import APIClient

from console.accounts import rights, roles, services
from console.accounts.models import User
from console.audit.record import Actor

PASSWORD: Final = "correct horse battery"
BY: Final = Actor.system("test")


def somebody(role: str) -> Actor:
    """Return a user of a role as who changes something."""
    user, _ = User.objects.get_or_create(username=role, defaults={"password": "!", "role": role})
    return Actor(role, user_id=user.pk)


@dataclass
class Cast:
    """Users by their role."""

    users: dict[str, User]

    @classmethod
    def assembled(cls) -> Cast:
        """Add one user for each role, named after it."""
        return cls(
            {
                role: User.objects.create(username=role, password=make_password(PASSWORD), role=role)
                for role in rights.ROLES
            }
        )

    def __getitem__(self, role: str) -> User:
        return self.users[role]

    def browser(self, role: str) -> Any:
        """Return a client that has a session of the user."""
        client = APIClient()
        client.force_login(self.users[role])
        return client

    def limited(self, *rules: tuple[str, ...]) -> Any:
        """Return a client that has a session of a new user `limited`, whom rules of kind, pattern and verbs allow."""
        rows = [{"kind": kind, "pattern": name, "allow": verbs, "refuse": []} for kind, name, *verbs in rules]
        role = roles.add_role(BY, name="limited", description="", rules=rows)
        user = services.add_user(BY, username="limited", password=PASSWORD, role=None, own_roles=[role])
        self.users["limited"] = user
        return self.browser("limited")

    def program(self, role: str, *scopes: str, name: str = "program") -> Any:
        """Return a client that carries a token of the user."""
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {self.token(role, *scopes, name=name)}")
        return client

    def token(self, role: str, *scopes: str, name: str = "program") -> str:
        """Make a token of the user and return its text."""
        wanted = list(scopes) or list(rights.VERBS)
        return services.add_token(BY, self.users[role], name=name, scopes=wanted)[1]
