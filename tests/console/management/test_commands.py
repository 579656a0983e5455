"""Requirements of `manage.py bootstrap` and `create_token`."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from console.accounts import services
from console.accounts.models import Token, User
from console.clusters.models import Cluster
from tests.support.cast import Cast


def run(command: str, **options: Any) -> str:
    output = StringIO()
    call_command(command, stdout=output, **options)
    return output.getvalue().strip()


def test_the_first_admin_is_made_once_and_the_password_told_once(db: None) -> None:
    made = json.loads(run("bootstrap"))
    assert (made["created"], made["username"]) == (True, "admin")
    admin = User.objects.get()
    assert admin.check_password(made["password"])
    assert admin.role == "admin"
    assert json.loads(run("bootstrap")) == {"created": False, "username": "admin"}
    assert Cluster.objects.get().name == "local"


def test_a_given_password_is_taken_and_not_printed(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GANTRY_ADMIN_PASSWORD", "correct horse battery")
    assert json.loads(run("bootstrap")) == {"created": True, "username": "admin"}
    assert User.objects.get().check_password("correct horse battery")


def test_the_token_of_the_printed_command_is_made_anew_when_its_file_was_lost(db: None) -> None:
    first, second = (json.loads(run("bootstrap", token="quickstart"))["token"] for _ in range(2))
    assert services.find_token(first) is None
    assert services.find_token(second) == Token.objects.get(name="quickstart")


def test_a_given_password_that_is_too_weak_is_refused(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GANTRY_ADMIN_PASSWORD", "admin")
    with pytest.raises(CommandError, match="GANTRY_ADMIN_PASSWORD"):
        run("bootstrap")
    assert not User.objects.exists()


def test_django_finds_nothing_to_complain_about() -> None:
    call_command("check", fail_level="WARNING")


def test_a_token_is_printed_alone_and_works(cast: Cast) -> None:
    text = run("create_token", user="developer", name="ci", scope=["produce:orders*"], expires_days=7)
    token = services.find_token(text)
    assert token is not None
    assert (token.name, token.scopes) == ("ci", ["produce:orders*"])
    assert token.expires_at is not None
    assert Token.objects.get() == token


@pytest.mark.parametrize(
    "options",
    [
        {"user": "nobody", "name": "x"},
        {"user": "viewer", "name": "x", "scope": ["fly"]},
        {"user": "viewer", "name": "x", "expires_days": 0},
        {"user": "viewer", "name": "taken"},
    ],
)
def test_a_token_that_cannot_be_is_refused(cast: Cast, options: dict[str, Any]) -> None:
    cast.token("viewer", name="taken")
    with pytest.raises(CommandError):
        run("create_token", **options)
    assert Token.objects.count() == 1


def test_one_token_too_many_is_refused_in_words(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "MAX_TOKENS", 0)
    with pytest.raises(CommandError, match="more are not allowed for one user"):
        run("create_token", user="viewer", name="x")
