"""``manage.py bootstrap``: create what a new installation needs; a second run changes nothing."""

from __future__ import annotations

import json
import os
import secrets
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from console.accounts import services as accounts
from console.accounts.models import RoleChoice, User
from console.accounts.rights import VERBS
from console.audit.record import Actor
from console.clusters import services as clusters
from console.errors import Conflict

FIRST_ADMIN: Final = "admin"
_BY: Final = Actor.system("bootstrap")
_MADE_PASSWORD_BYTES: Final = 15


class Command(BaseCommand):
    """Creates the row of the embedded cluster, and the first admin."""

    # They import every view of the gateway, and all that starts waits for this; the tests run them.
    requires_system_checks = ()
    help = "Create the first admin and the embedded cluster; print one line of JSON."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options --migrate and --token."""
        parser.add_argument("--migrate", action="store_true", help="bring the database up to date first")
        parser.add_argument("--token", metavar="NAME", help="also make the admin a token of this name")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print ``{"created": …, "username": …}``, with the password only if it was generated in this run.

        The text of the token that was asked for stands under ``token``.
        """
        if options["migrate"]:
            call_command("migrate", interactive=False, verbosity=0)
        # All or nothing: a password that was made and never printed could not be found again.
        with transaction.atomic():
            answer = _bootstrapped(options["token"])
        self.stdout.write(json.dumps(answer))


def _bootstrapped(token_name: str | None) -> dict[str, str | bool]:
    clusters.ensure_embedded()
    admin = User.objects.filter(role=RoleChoice.ADMIN, is_active=True).order_by("pk").first()
    answer: dict[str, str | bool] = {"created": False, "username": admin.username} if admin else _make_admin()
    if token_name is None:
        return answer
    user = User.objects.get(username=answer["username"])
    for lost in user.tokens.filter(name=token_name):
        accounts.remove_token(_BY, lost)
    try:
        _, text = accounts.add_token(_BY, user, name=token_name, scopes=list(VERBS), expires_at=None)
    except Conflict as error:
        raise CommandError(str(error)) from error
    return {**answer, "token": text}


def _make_admin() -> dict[str, str | bool]:
    given = os.environ.get("GANTRY_ADMIN_PASSWORD", "")
    password = given or secrets.token_urlsafe(_MADE_PASSWORD_BYTES)
    try:
        accounts.add_user(_BY, username=FIRST_ADMIN, password=password, role=RoleChoice.ADMIN)
    except ValidationError as error:
        raise CommandError("GANTRY_ADMIN_PASSWORD is not accepted: " + " ".join(error.messages)) from error
    answer: dict[str, str | bool] = {"created": True, "username": FIRST_ADMIN}
    # A given password is known already and must not appear in a log.
    return answer if given else {**answer, "password": password}
