"""Users, tokens and WebSocket tickets."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

from django.core.exceptions import ValidationError as DjangoValidationError
from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response

from console.accounts import services, tickets
from console.accounts.deciding import rights_of
from console.accounts.models import Token, User
from console.accounts.permissions import SignedInInPerson, actor_of, allows, needs
from console.accounts.rights import EVERYTHING
from console.accounts.serializers import (
    NewTokenSerializer,
    TicketSerializer,
    TokenCreateSerializer,
    TokenSerializer,
    UserChangeSerializer,
    UserCreateSerializer,
    UserSerializer,
    user_tag,
)
from console.api_view import ApiView
from console.errors import AlreadyExists, Conflict
from console.etags import IF_MATCH, locked, match, tagged
from console.once import SECRET_MS
from console.paging import PAGE_PARAMETERS, page_of, page_queryset
from console.query import flag_of
from console.rows import row_of

UserPage = page_of(UserSerializer)
TokenPage = page_of(TokenSerializer)


class UsersView(ApiView):
    """All users."""

    permission_classes = (needs("admin"),)

    @extend_schema(operation_id="listUsers", tags=["access"], parameters=PAGE_PARAMETERS, responses=UserPage)
    def get(self, request: Request) -> Response:
        """List users, the newest first."""
        page = page_queryset(request, User.objects.prefetch_related("own_roles"))
        return Response(UserPage(page).data)

    @extend_schema(
        operation_id="createUser", tags=["access"], request=UserCreateSerializer, responses={201: UserSerializer}
    )
    def post(self, request: Request) -> Response:
        """Add a user."""
        form = UserCreateSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        if User.objects.filter(username__iexact=form.validated_data["username"]).exists():
            raise AlreadyExists(f"User {form.validated_data['username']!r} already exists.")
        try:
            user = services.add_user(actor_of(request), **form.validated_data)
        except DjangoValidationError as error:
            raise exceptions.ValidationError({"password": error.messages}) from error
        return tagged(UserSerializer(user).data, status=201)


class UserView(ApiView):
    """One user."""

    permission_classes = (needs("admin"),)

    @extend_schema(operation_id="getUser", tags=["access"], responses=UserSerializer)
    def get(self, request: Request, user_id: int) -> Response:
        """Return a user."""
        return tagged(UserSerializer(row_of(User.objects.all(), user_id)).data)

    @extend_schema(
        operation_id="updateUser",
        parameters=[IF_MATCH],
        tags=["access"],
        request=UserChangeSerializer,
        responses=UserSerializer,
    )
    def patch(self, request: Request, user_id: int) -> Response:
        """Change role, activity or password of a user; end the user's sessions and tokens if asked."""
        user = row_of(User.objects.all(), user_id)
        match(request, UserSerializer(user).data)
        form = UserChangeSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        lock = partial(locked, request, User.objects.filter(pk=user_id), user_tag)
        try:
            user = services.change_user(actor_of(request), user, form.validated_data, lock=lock)
        except (services.LastAdmin, services.WithoutRole) as error:
            raise Conflict(str(error)) from error
        except DjangoValidationError as error:
            raise exceptions.ValidationError({"password": error.messages}) from error
        return tagged(UserSerializer(user).data)

    @extend_schema(operation_id="deleteUser", parameters=[IF_MATCH], tags=["access"], responses={204: None})
    def delete(self, request: Request, user_id: int) -> Response:
        """Remove a user and the user's tokens; what the user did stays in the audit."""
        try:
            with locked(request, User.objects.filter(pk=user_id), user_tag) as user:
                services.remove_user(actor_of(request), user)
        except services.LastAdmin as error:
            raise Conflict(str(error)) from error
        return Response(status=204)


class TokensView(ApiView):
    """The caller's tokens."""

    permission_classes = (SignedInInPerson,)
    answer_ms = SECRET_MS

    @extend_schema(
        operation_id="listTokens",
        tags=["access"],
        parameters=[
            *PAGE_PARAMETERS,
            OpenApiParameter("all", bool, description="Tokens of all users; needs the right `admin`."),
        ],
        responses=TokenPage,
    )
    def get(self, request: Request) -> Response:
        """List tokens, the newest first; their text is not stored."""
        page = page_queryset(request, _visible(request, everybody=flag_of(request, "all")))
        return Response(TokenPage(page).data)

    @extend_schema(
        operation_id="createToken", tags=["access"], request=TokenCreateSerializer, responses={201: NewTokenSerializer}
    )
    def post(self, request: Request) -> Response:
        """Create a token; only this answer contains its text."""
        user: Any = request.user
        own = rights_of(user.role, user.rules_of_own_roles).verbs()
        form = TokenCreateSerializer(data=request.data, context={"rights": own})
        form.is_valid(raise_exception=True)
        wanted = {"scopes": own, **form.validated_data}
        token, text = services.add_token(actor_of(request), user, **wanted)
        return Response({**TokenSerializer(token).data, "token": text}, status=201)


class TokenView(ApiView):
    """One token."""

    permission_classes = (SignedInInPerson,)

    @extend_schema(operation_id="deleteToken", tags=["access"], responses={204: None})
    def delete(self, request: Request, token_id: int) -> Response:
        """Revoke a token; it stops working within seconds."""
        services.remove_token(actor_of(request), row_of(_visible(request, everybody=True), token_id))
        return Response(status=204)


class TicketsView(ApiView):
    """Tickets for WebSockets."""

    answer_ms = SECRET_MS

    @extend_schema(operation_id="createWsTicket", tags=["session"], request=None, responses={201: TicketSerializer})
    def post(self, request: Request) -> Response:
        """Create a ticket: ``?ticket=…`` opens one WebSocket within a minute, with the rights of this request."""
        user: Any = request.user
        token_id = request.auth.pk if isinstance(request.auth, Token) else None
        expires_at = timezone.now() + timedelta(seconds=tickets.KEEP_SECONDS)
        session = None if token_id is not None else request.session.session_key
        text = tickets.make(tickets.Ticket(user.pk, token_id, session))
        return Response(TicketSerializer({"ticket": text, "expires_at": expires_at}).data, status=201)


def _visible(request: Request, *, everybody: bool) -> QuerySet[Token]:
    """Return the tokens that the request may see: the caller's own, or all users' if an admin asks for them."""
    user: Any = request.user
    rows = Token.objects.select_related("user")
    if everybody and allows(request, "admin", EVERYTHING):
        return rows
    return rows.filter(user_id=user.pk)
