"""Sign-in, sign-out, and what users may change about themselves."""

from __future__ import annotations

from typing import Any, cast

from django.contrib.auth import authenticate, login, logout, update_session_auth_hash
from django.core.exceptions import ValidationError as DjangoValidationError
from django.middleware.csrf import get_token
from django.utils.decorators import method_decorator
from django.views.decorators.csrf import ensure_csrf_cookie
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, permissions
from rest_framework.request import Request
from rest_framework.response import Response

from console.accounts import login_limit, services
from console.accounts.addresses import address_of
from console.accounts.deciding import Rights, rights_of
from console.accounts.hashing import hashing
from console.accounts.models import RoleChoice, Token, User
from console.accounts.open_sessions import leave_room, note_sign_in
from console.accounts.permissions import SignedIn, SignedInInPerson, actor_of, rights_of_request
from console.accounts.serializers import Language, LoginSerializer, Me, MeChangeSerializer, PasswordSerializer
from console.api_view import ApiView
from console.audit.record import Actor, record
from console.audit.refusals import record_refusal
from console.shapes import as_json, serializer_of

TAGS = ["session"]


class LoginView(ApiView):
    """Sign in with name and password."""

    # A stored answer could claim a session that has ended.
    answer_ms = 0

    authentication_classes = ()
    permission_classes = (permissions.AllowAny,)

    @extend_schema(operation_id="login", tags=TAGS, request=LoginSerializer, responses=serializer_of(Me), auth=[])
    def post(self, request: Request) -> Response:
        """Start a session: sets the session cookie and the cookie csrftoken."""
        form = LoginSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        username, address = form.validated_data["username"], address_of(request)
        by = Actor(name=username, request_id=getattr(request, "request_id", ""), address=address)
        _count_guess(by, "session.login", username, address)
        with hashing(address):
            user = authenticate(request._request, username=username, password=form.validated_data["password"])
        if not isinstance(user, User):
            record(by, "session.login", f"users/{username}", result="refused")
            raise exceptions.AuthenticationFailed("Name or password is wrong.")
        login_limit.forgive(username, address)
        # Signed in already: Django would keep the session with its key, and whoever else has that one.
        request._request.session.flush()
        login(request._request, user)
        note_sign_in(request._request.session, address=address, user_agent=request.headers.get("User-Agent", ""))
        request._request.session.save()
        leave_room(user)
        get_token(request._request)
        record(by, "session.login", f"users/{username}")
        own = rights_of(user.role, user.rules_of_own_roles)
        return Response(as_json(_me(user, own, token_auth=False)))

    def get_authenticate_header(self, request: Request) -> str:
        """Return the scheme of a 401: without one DRF answers 403."""
        return 'Session realm="gantry"'


class LogoutView(ApiView):
    """Sign out."""

    answer_ms = 0

    @extend_schema(operation_id="logout", tags=TAGS, request=None, responses={204: None})
    def post(self, request: Request) -> Response:
        """End the session."""
        user = _user(request)
        if request.auth is None:
            record(actor_of(request), "session.logout", f"users/{user.username}")
        logout(request._request)
        return Response(status=204)


@method_decorator(ensure_csrf_cookie, name="dispatch")
class MeView(ApiView):
    """The caller."""

    def get_permissions(self) -> list[Any]:
        """Let every token read who the caller is, but not change the user behind it."""
        return [SignedInInPerson() if self.request.method == "PATCH" else SignedIn()]

    @extend_schema(operation_id="getMe", tags=TAGS, responses=serializer_of(Me))
    def get(self, request: Request) -> Response:
        """Return the caller and the caller's rights; sets the cookie csrftoken."""
        return Response(as_json(_me_of(request)))

    @extend_schema(operation_id="updateMe", tags=TAGS, request=MeChangeSerializer, responses=serializer_of(Me))
    def patch(self, request: Request) -> Response:
        """Choose the language of the console."""
        form = MeChangeSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        services.choose_language(actor_of(request), _user(request), form.validated_data["language"])
        return Response(as_json(_me_of(request)))


class PasswordView(ApiView):
    """The caller's password."""

    permission_classes = (SignedInInPerson,)

    @extend_schema(operation_id="changePassword", tags=TAGS, request=PasswordSerializer, responses={204: None})
    def post(self, request: Request) -> Response:
        """Change the caller's password; all other sessions of this user end."""
        form = PasswordSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        user, by, address = _user(request), actor_of(request), address_of(request)
        _count_guess(by, "user.password", user.username, address)
        try:
            services.change_password(by, user, **form.validated_data)
        except services.WrongPassword as error:
            record(by, "user.password", f"users/{user.username}", result="refused")
            raise exceptions.ValidationError({"current": str(error)}) from error
        except DjangoValidationError as error:
            raise exceptions.ValidationError({"new": error.messages}) from error
        login_limit.forgive(user.username, address)
        update_session_auth_hash(request._request, user)
        return Response(status=204)


@method_decorator(ensure_csrf_cookie, name="dispatch")
class CsrfView(ApiView):
    """The cookie whose value every change must send back."""

    permission_classes = (permissions.AllowAny,)

    @extend_schema(operation_id="getCsrf", tags=TAGS, responses={204: None}, auth=[])
    def get(self, request: Request) -> Response:
        """Set the cookie csrftoken."""
        return Response(status=204)


def _count_guess(by: Actor, action: str, username: str, address: str) -> None:
    """Count a guess at a password; raise Throttled if it has to wait."""
    wait = login_limit.reserve(username, address)
    if wait is not None:
        record_refusal(by, action, f"users/{username}", "too many wrong passwords")
        raise exceptions.Throttled(wait, "Too many wrong passwords.")


def _me_of(request: Request) -> Me:
    return _me(_user(request), rights_of_request(request), token_auth=isinstance(request.auth, Token))


def _me(user: User, rights: Rights, *, token_auth: bool) -> Me:
    return Me(
        id=user.pk,
        username=user.username,
        role=RoleChoice(user.role) if user.role else None,
        own_roles=[role.name for role in rights.roles if role.name != user.role],
        rights=rights.verbs(),
        language=cast(Language | None, user.language or None),
        token_auth=token_auth,
    )


def _user(request: Request) -> User:
    assert isinstance(request.user, User)
    return request.user
