"""Open sessions over HTTP: one's own, and for an admin those of everybody."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import extend_schema
from msgspec import Struct
from rest_framework.request import Request
from rest_framework.response import Response

from console.accounts.models import User
from console.accounts.open_sessions import OpenSession, end_others, end_session, open_sessions
from console.accounts.permissions import SignedInInPerson, actor_of, needs
from console.api_view import ApiView
from console.errors import NotKnown
from console.fields import moment
from console.moments import Moment
from console.paging import PAGE_PARAMETERS, page_of, page_sequence
from console.shapes import as_json, serializer_of


class OpenSessionState(Struct, frozen=True, kw_only=True):
    """A session: from where, with which browser, since when, and when used last; null means not noted."""

    id: str
    user: str
    current: bool
    """Whether it is the one of this request."""
    address: str | None
    user_agent: str | None
    since: Moment | None
    last_seen_at: Moment | None
    expires_at: Moment


class EndedState(Struct, frozen=True):
    """How many sessions were ended."""

    ended: int


_PAGE = page_of(serializer_of(OpenSessionState))


class MySessionsView(ApiView):
    """The caller's sessions."""

    permission_classes = (SignedInInPerson,)

    @extend_schema(operation_id="listMySessions", tags=["session"], parameters=PAGE_PARAMETERS, responses=_PAGE)
    def get(self, request: Request) -> Response:
        """List the caller's open sessions, the one used last first."""
        return _listed(request, open_sessions(_user(request)))


class MySessionView(ApiView):
    """One session of the caller."""

    permission_classes = (SignedInInPerson,)

    @extend_schema(operation_id="endMySession", tags=["session"], responses={204: None})
    def delete(self, request: Request, session_id: str) -> Response:
        """End a session of the caller; its sockets close within seconds."""
        return _ended(request, open_sessions(_user(request)), session_id)


class EndOthersView(ApiView):
    """All sessions of the caller but this one."""

    permission_classes = (SignedInInPerson,)

    @extend_schema(
        operation_id="endMyOtherSessions", tags=["session"], request=None, responses=serializer_of(EndedState)
    )
    def post(self, request: Request) -> Response:
        """End all sessions of the caller but the one of this request."""
        ended = end_others(actor_of(request), _user(request), _key(request))
        return Response(as_json(EndedState(ended)))


class SessionsView(ApiView):
    """Everybody's sessions."""

    permission_classes = (needs("admin"),)

    @extend_schema(operation_id="listSessions", tags=["access"], parameters=PAGE_PARAMETERS, responses=_PAGE)
    def get(self, request: Request) -> Response:
        """List the open sessions of all users, the one used last first."""
        return _listed(request, open_sessions())


class SessionView(ApiView):
    """One session of anybody."""

    permission_classes = (needs("admin"),)

    @extend_schema(operation_id="endSession", tags=["access"], responses={204: None})
    def delete(self, request: Request, session_id: str) -> Response:
        """End a session of any user."""
        return _ended(request, open_sessions(), session_id)


def _listed(request: Request, sessions: Sequence[OpenSession]) -> Response:
    page = page_sequence(request, sessions, key=lambda each: each.id)
    current = _key(request)
    return Response(as_json(page.of([_shown(each, current) for each in page.items])))


def _ended(request: Request, sessions: Sequence[OpenSession], session_id: str) -> Response:
    found = next((each for each in sessions if each.id == session_id), None)
    if found is None:
        raise NotKnown(f"There is no session {session_id[:60]!r}.")
    end_session(actor_of(request), found)
    return Response(status=204)


def _shown(session: OpenSession, current: str | None) -> OpenSessionState:
    return OpenSessionState(
        id=session.id,
        user=session.user.get_username(),
        current=session.key == current,
        address=session.address,
        user_agent=session.user_agent,
        since=None if session.since is None else moment(session.since),
        last_seen_at=None if session.last_seen_at is None else moment(session.last_seen_at),
        expires_at=moment(session.expires_at),
    )


def _key(request: Request) -> str | None:
    """Return the key of the session of the request; None for a token."""
    return None if request.auth is not None else request._request.session.session_key


def _user(request: Request) -> User:
    user: Any = request.user
    assert isinstance(user, User)
    return user
