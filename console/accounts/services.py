"""Changes of users and tokens, each written to the audit; and the look-up of a token by its text."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime, timedelta
from typing import Any, Final

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.password_validation import validate_password
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from broker_core.errors import GantryError
from console.accounts import tokens
from console.accounts.hashing import hashing
from console.accounts.models import Role, RoleChoice, Token, User
from console.audit.record import Actor, record
from console.errors import AlreadyExists, Conflict
from console.rows import unless_taken

MAX_USERS: Final = 1_000
MAX_TOKENS: Final = 100
"""Tokens of one user."""
# The resolution of "last used": one write per token and minute, regardless of the number of requests.
LAST_USED_STEP: Final = timedelta(minutes=1)


class LastAdmin(GantryError):
    """The change would remove the last user who may administer."""

    def __init__(self, username: str) -> None:
        super().__init__(f"{username!r} is the last active admin; create another one first")
        self.username = username


class WithoutRole(GantryError):
    """The change would leave a user without any role."""

    def __init__(self, username: str) -> None:
        super().__init__(f"{username!r} needs a role; deactivate the user to refuse everything")


class WrongPassword(GantryError):
    """The current password given is not the user's."""


def add_user(by: Actor, *, username: str, password: str, role: str | None, own_roles: Sequence[Role] = ()) -> User:
    """Add a user with a built-in role, others, or both.

    Raises AlreadyExists, Conflict if there are `MAX_USERS`, or Django's ValidationError for a weak password.
    """
    user = User(username=username, role=role or "")
    _set_password(by, user, password)
    same_name = User.objects.filter(username__iexact=username)
    with unless_taken(same_name, AlreadyExists(f"User {username!r} already exists.")):
        if User.objects.count() >= MAX_USERS:
            raise Conflict(f"There are {MAX_USERS} users, and more are not allowed; delete one first.")
        user.save()
        user.own_roles.set(own_roles)
        record(by, "user.create", f"users/{username}", after=_user_state(user))
    return user


def change_user(
    by: Actor, user: User, changes: Mapping[str, Any], *, lock: Callable[[], AbstractContextManager[User]] | None = None
) -> User:
    """Change roles, activity or password of a user, end sessions and tokens; raise LastAdmin or WithoutRole.

    `lock` gives the row as it is now for the time of the change; without it `user` is changed.
    """
    if changes.get("password"):
        _set_password(by, user, changes["password"])
    with transaction.atomic(), nullcontext(user) if lock is None else lock() as present:
        present.password = user.password if changes.get("password") else present.password
        return _change_user(by, present, changes)


def _change_user(by: Actor, user: User, changes: Mapping[str, Any]) -> User:
    before = _user_state(user)
    if "role" in changes:
        user.role = changes["role"] or ""
    if "is_active" in changes:
        user.is_active = changes["is_active"]
    own_roles = changes.get("own_roles", list(user.own_roles.all()))
    if not user.role and not own_roles:
        raise WithoutRole(user.username)
    if before["role"] == RoleChoice.ADMIN and not (user.role == RoleChoice.ADMIN and user.is_active):
        _refuse_without_admin(user)
    user.save()
    user.own_roles.set(own_roles)
    after = _user_state(user) | ({"password": "changed"} if changes.get("password") else {})
    if changes.get("end_sessions"):
        after["sessions_ended"] = _end_sessions(user)
    if changes.get("revoke_tokens"):
        for token in user.tokens.all():
            remove_token(by, token)
    record(by, "user.update", f"users/{user.username}", before=before, after=after)
    return user


@transaction.atomic
def remove_user(by: Actor, user: User) -> None:
    """Remove the user and the user's tokens; raise LastAdmin for the last admin."""
    before = _user_state(user)
    _refuse_without_admin(user)
    user.delete()
    record(by, "user.delete", f"users/{user.username}", before=before)


def change_password(by: Actor, user: User, *, current: str, new: str) -> None:
    """Change the caller's own password; raise WrongPassword, or ValidationError for a weak one."""
    with hashing(by.address):
        is_right = user.check_password(current)
    if not is_right:
        raise WrongPassword("the current password is wrong")
    _set_password(by, user, new)
    with transaction.atomic():
        user.save(update_fields=["password"])
        record(by, "user.password", f"users/{user.username}")


def _set_password(by: Actor, user: User, password: str) -> None:
    """Set a user's password without saving: hashing is slow and must not happen inside a transaction."""
    validate_password(password, user)
    with hashing(by.address):
        user.set_password(password)


def _end_sessions(user: User) -> int:
    """End all sessions of a user; return how many there were."""
    ended = 0
    for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        if session.get_decoded().get(SESSION_KEY) == str(user.pk):
            session.delete()
            ended += 1
    return ended


@transaction.atomic
def choose_language(by: Actor, user: User, language: str | None) -> None:
    """Store the user's language for the console; None means the browser's."""
    before, user.language = user.language, language or ""
    user.save(update_fields=["language"])
    states = ({"language": each or None} for each in (before, language))
    record(by, "user.update", f"users/{user.username}", before=next(states), after=next(states))


def add_token(
    by: Actor, user: User, *, name: str, scopes: list[str], expires_at: datetime | None = None
) -> tuple[Token, str]:
    """Create a token for the user; return its row and its text, which is not stored.

    Raises AlreadyExists, or Conflict if the user has `MAX_TOKENS`.
    """
    made = tokens.make()
    with unless_taken(user.tokens.filter(name=name), AlreadyExists(f"You already have a token named {name!r}.")):
        if user.tokens.count() >= MAX_TOKENS:
            raise Conflict(
                f"{user.username} has {MAX_TOKENS} tokens, and more are not allowed for one user; remove one first."
            )
        token = Token.objects.create(
            user=user, name=name, key=made.key, digest=made.digest, scopes=scopes, expires_at=expires_at
        )
        record(by, "token.create", f"users/{user.username}/tokens/{name}", after=_token_state(token))
    return token, made.text


@transaction.atomic
def remove_token(by: Actor, token: Token) -> None:
    """Revoke the token; its open connections close within the time that look-ups are cached."""
    before = _token_state(token)
    resource = f"users/{token.user.username}/tokens/{token.name}"
    token.delete()
    record(by, "token.delete", resource, before=before)


def find_token(text: str, address: str = "") -> Token | None:
    """Return the token with this text if it and its user are valid now, else None; record its use and from where."""
    key = tokens.find_key(text)
    if key is None:
        return None
    now = timezone.now()
    token = Token.objects.select_related("user").filter(key=key).first()
    if token is None or not hmac.compare_digest(token.digest, tokens.digest(text)):
        return None
    if not token.user.is_active or (token.expires_at is not None and token.expires_at <= now):
        return None
    _note_use(token, now, address)
    return token


def _note_use(token: Token, now: datetime, address: str) -> None:
    if token.last_used_at is not None and now - token.last_used_at < LAST_USED_STEP:
        return
    stale = Q(last_used_at=None) | Q(last_used_at__lt=now - LAST_USED_STEP)
    Token.objects.filter(stale, pk=token.pk).update(last_used_at=now, last_used_address=address[:64])


def _refuse_without_admin(leaving: User) -> None:
    others = User.objects.select_for_update().filter(role=RoleChoice.ADMIN, is_active=True).exclude(pk=leaving.pk)
    if not others.exists():
        raise LastAdmin(leaving.username)


def _user_state(user: User) -> dict[str, object]:
    own = user.names_of_own_roles
    own_roles = {"own_roles": own} if own else {}
    return {"username": user.username, "role": user.role or None, **own_roles, "is_active": user.is_active}


def _token_state(token: Token) -> dict[str, object]:
    expires = None if token.expires_at is None else token.expires_at.isoformat()
    return {"name": token.name, "prefix": token.prefix, "scopes": token.scopes, "expires_at": expires}
