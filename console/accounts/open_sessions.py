"""The sessions in which users are signed in: from where, with which browser, since when, and when used last."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.models import Session
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.dateparse import parse_datetime

from console.accounts.models import User
from console.audit.record import Actor, record

# The resolution of "last seen": one write per session and minute, regardless of the number of requests.
SEEN_STEP: Final = timedelta(minutes=1)
MAX_SESSIONS: Final = 100
"""Sessions of one user; another sign-in ends the one that was used longest ago."""
_ADDRESS: Final = "address"
_AGENT: Final = "user_agent"
_SINCE: Final = "since"
_SEEN: Final = "seen"
_LONGEST: Final = 300


@dataclass(frozen=True, slots=True)
class OpenSession:
    """One session. Its id is a hash of its key, which only the cookie may hold."""

    id: str
    key: str
    user: User
    address: str | None
    user_agent: str | None
    since: datetime | None
    """None: it began before sessions noted this."""
    last_seen_at: datetime | None
    expires_at: datetime


def note_sign_in(session: SessionBase, *, address: str, user_agent: str) -> None:
    """Keep from where a new session was opened."""
    now = timezone.now().isoformat()
    session.update({_ADDRESS: address, _AGENT: user_agent[:_LONGEST], _SINCE: now, _SEEN: now})


def note_use(session: SessionBase, *, address: str) -> None:
    """Keep when and from where a session was used last."""
    now, seen = timezone.now(), _moment(session.get(_SEEN))
    if seen is None or now - seen >= SEEN_STEP or session.get(_ADDRESS) != address:
        session.update({_SEEN: now.isoformat(), _ADDRESS: address})


def id_of(key: str) -> str:
    """Return the public id of the session with this key."""
    return hashlib.sha256(f"session:{key}".encode()).hexdigest()[:24]


def open_sessions(user: User | None = None) -> list[OpenSession]:
    """Return the sessions of a user, or of all; the one used last first."""
    found = list(_found(user))
    return sorted(found, key=lambda each: each.last_seen_at or each.expires_at, reverse=True)


def end_session(by: Actor, session: OpenSession) -> None:
    """End a session; its sockets close within seconds."""
    Session.objects.filter(session_key=session.key).delete()
    record(by, "user.session_end", f"users/{session.user.get_username()}", before=_state(session))


def end_others(by: Actor, user: User, current: str | None) -> int:
    """End all sessions of a user but the one with the key `current`; return how many there were."""
    others = [each for each in open_sessions(user) if each.key != current]
    for each in others:
        end_session(by, each)
    return len(others)


def leave_room(user: User) -> None:
    """Drop the sessions of a user above `MAX_SESSIONS`, and those of anybody that have expired."""
    Session.objects.filter(expire_date__lte=timezone.now()).delete()
    for each in open_sessions(user)[MAX_SESSIONS:]:
        Session.objects.filter(session_key=each.key).delete()


def _found(user: User | None) -> Iterator[OpenSession]:
    users = {str(each.pk): each for each in ([user] if user else User.objects.filter(is_active=True))}
    for row in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        data: dict[str, Any] = row.get_decoded()
        owner = users.get(str(data.get(SESSION_KEY)))
        # After a new password the sessions of the old one are dead, although their rows still exist.
        if owner is None or not constant_time_compare(data.get(HASH_SESSION_KEY, ""), owner.get_session_auth_hash()):
            continue
        yield OpenSession(
            id=id_of(row.session_key),
            key=row.session_key,
            user=owner,
            address=data.get(_ADDRESS) or None,
            user_agent=data.get(_AGENT) or None,
            since=_moment(data.get(_SINCE)),
            last_seen_at=_moment(data.get(_SEEN)),
            expires_at=row.expire_date,
        )


def _moment(text: str | None) -> datetime | None:
    return parse_datetime(text) if text else None


def _state(session: OpenSession) -> dict[str, Any]:
    since = None if session.since is None else session.since.isoformat()
    return {"address": session.address, "user_agent": session.user_agent, "since": since}
