"""``manage.py create_token --user NAME --name NAME``: print a new token, this once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError
from django.utils import timezone

from console.accounts import rights, services
from console.accounts.models import User
from console.audit.record import Actor

_LONGEST_DAYS = 3650


class Command(BaseCommand):
    """Makes a token."""

    help = "Make a token for a user and print its text, which is not kept anywhere."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare whose token it is and what it may do."""
        parser.add_argument("--user", required=True, help="whose token it is")
        parser.add_argument("--name", required=True, help="what it is for, e.g. the program that carries it")
        parser.add_argument(
            "--scope",
            action="append",
            default=[],
            help="a right, e.g. produce or consume:orders*; repeat for more; none gives all rights of the user",
        )
        parser.add_argument("--expires-days", type=int, help="days after which it ends; none means never")

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
            raise CommandError(f"no scope: {', '.join(wrong)}; {rights.SCOPE_FORM}")
        days = options["expires_days"]
        if days is not None and not 1 <= days <= _LONGEST_DAYS:
            raise CommandError(f"--expires-days: wanted 1 to {_LONGEST_DAYS}")
        expires_at = None if days is None else timezone.now() + timedelta(days=days)
        if user.tokens.filter(name=options["name"]).exists():
            raise CommandError(f"{user.username} has a token named {options['name']!r} already; remove it first")
        scopes = options["scope"] or list(rights.VERBS)
        _, text = services.add_token(
            Actor.system("command line"), user, name=options["name"], scopes=scopes, expires_at=expires_at
        )
        self.stdout.write(text)
