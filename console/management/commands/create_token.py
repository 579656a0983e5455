"""``manage.py create_token --user NAME --name NAME``: create a token and print its text."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError
from django.utils import timezone

from console.accounts import rights, services
from console.accounts.models import User
from console.audit.record import Actor
from console.errors import Conflict

_LONGEST_DAYS = 3650


class Command(BaseCommand):
    """Creates a token."""

    help = "Create a token for a user and print its text, which is not stored."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options: user, name, scopes and expiry."""
        parser.add_argument("--user", required=True, help="the user of the token")
        parser.add_argument("--name", required=True, help="its purpose, e.g. the program that uses it")
        parser.add_argument(
            "--scope",
            action="append",
            default=[],
            help="a right, e.g. produce or consume:orders* (repeatable); by default all rights of the user",
        )
        parser.add_argument("--expires-days", type=int, help="days until it expires; by default never")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print the token's text."""
        try:
            user = User.objects.filter(username=options["user"], is_active=True).first()
        except DatabaseError as error:
            raise CommandError(
                f"the database cannot be read ({error}): "
                "start Gantry once, or name its data folder with GANTRY_DATA_DIR"
            ) from error
        if user is None:
            raise CommandError(f"there is no active user {options['user']!r}")
        wrong = [scope for scope in options["scope"] if not rights.is_scope(scope)]
        if wrong:
            raise CommandError(f"not a scope: {', '.join(wrong)}; {rights.SCOPE_FORM}")
        days = options["expires_days"]
        if days is not None and not 1 <= days <= _LONGEST_DAYS:
            raise CommandError(f"--expires-days must be 1 to {_LONGEST_DAYS}")
        expires_at = None if days is None else timezone.now() + timedelta(days=days)
        if user.tokens.filter(name=options["name"]).exists():
            raise CommandError(f"{user.username} already has a token named {options['name']!r}; remove it first")
        scopes = options["scope"] or list(rights.VERBS)
        try:
            _, text = services.add_token(
                Actor.system("command line"), user, name=options["name"], scopes=scopes, expires_at=expires_at
            )
        except Conflict as error:
            raise CommandError(str(error)) from error
        self.stdout.write(text)
