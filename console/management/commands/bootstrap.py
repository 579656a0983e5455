"""``manage.py bootstrap``: create what a new installation needs; a second run changes nothing."""

from __future__ import annotations

import json
import os
import secrets
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from console.accounts import services as accounts
from console.accounts.models import RoleChoice, User
from console.audit.record import Actor
from console.clusters import services as clusters

FIRST_ADMIN: Final = "admin"
_MADE_PASSWORD_BYTES: Final = 15


class Command(BaseCommand):
    """Creates the row of the embedded cluster, and the first admin."""

    help = "Create the first admin and the embedded cluster; print one line of JSON."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the option --migrate."""
        parser.add_argument("--migrate", action="store_true", help="bring the database up to date first")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print ``{"created": …, "username": …}``, with the password only if it was generated in this run."""
        if options["migrate"]:
            call_command("migrate", interactive=False, verbosity=0)
        clusters.ensure_embedded()
        admin = User.objects.filter(role=RoleChoice.ADMIN, is_active=True).order_by("pk").first()
        answer = _make_admin() if admin is None else {"created": False, "username": admin.username}
        self.stdout.write(json.dumps(answer))


def _make_admin() -> dict[str, str | bool]:
    given = os.environ.get("GANTRY_ADMIN_PASSWORD", "")
    password = given or secrets.token_urlsafe(_MADE_PASSWORD_BYTES)
    try:
        accounts.add_user(Actor.system("bootstrap"), username=FIRST_ADMIN, password=password, role=RoleChoice.ADMIN)
    except ValidationError as error:
        raise CommandError("GANTRY_ADMIN_PASSWORD is not accepted: " + " ".join(error.messages)) from error
    answer: dict[str, str | bool] = {"created": True, "username": FIRST_ADMIN}
    # A given password is known already and must not appear in a log.
    return answer if given else {**answer, "password": password}
