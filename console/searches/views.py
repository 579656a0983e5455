"""The caller's saved searches over HTTP. They grant nothing: whoever opens one needs the right to search."""

from __future__ import annotations

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from console.accounts.models import User
from console.accounts.permissions import SignedInInPerson, actor_of
from console.api_view import ApiView
from console.clusters.services import require
from console.etags import IF_MATCH, locked, tagged
from console.rows import row_of
from console.searches import services
from console.searches.models import SavedSearch
from console.searches.shapes import (
    SavedSearchChangeSerializer,
    SavedSearchCreateSerializer,
    SavedSearchList,
    SavedSearchState,
    search_state,
    search_tag,
)
from console.shapes import as_json, serializer_of

_TAGS = ["messages"]
_SEARCH = serializer_of(SavedSearchState)


class SavedSearchesView(ApiView):
    """The caller's saved searches."""

    permission_classes = (SignedInInPerson,)

    @extend_schema(operation_id="listSavedSearches", tags=_TAGS, responses=serializer_of(SavedSearchList))
    def get(self, request: Request) -> Response:
        """List the caller's saved searches by name."""
        return Response(as_json(SavedSearchList([search_state(each) for each in _mine(request)])))

    @extend_schema(operation_id="saveSearch", tags=_TAGS, request=SavedSearchCreateSerializer, responses={201: _SEARCH})
    def post(self, request: Request) -> Response:
        """Save a search of messages under a name; at most 100."""
        form = SavedSearchCreateSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        require(form.validated_data["cluster"])
        saved = services.save(actor_of(request), _user(request), form.validated_data)
        return tagged(as_json(search_state(saved)), status=201)


class SavedSearchView(ApiView):
    """One saved search of the caller."""

    permission_classes = (SignedInInPerson,)

    @extend_schema(operation_id="getSavedSearch", tags=_TAGS, responses=_SEARCH)
    def get(self, request: Request, search_id: int) -> Response:
        """Return a saved search."""
        return tagged(as_json(search_state(row_of(_mine(request), search_id))))

    @extend_schema(
        operation_id="updateSavedSearch",
        parameters=[IF_MATCH],
        tags=_TAGS,
        request=SavedSearchChangeSerializer,
        responses=_SEARCH,
    )
    def patch(self, request: Request, search_id: int) -> Response:
        """Change the name or the query of a saved search."""
        form = SavedSearchChangeSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        with locked(request, _mine(request).filter(pk=search_id), search_tag) as present:
            changed = services.change(actor_of(request), present, form.validated_data)
        return tagged(as_json(search_state(changed)))

    @extend_schema(operation_id="deleteSavedSearch", parameters=[IF_MATCH], tags=_TAGS, responses={204: None})
    def delete(self, request: Request, search_id: int) -> Response:
        """Remove a saved search."""
        with locked(request, _mine(request).filter(pk=search_id), search_tag) as present:
            services.remove(actor_of(request), present)
        return Response(status=204)


def _user(request: Request) -> User:
    assert isinstance(request.user, User)
    return request.user


def _mine(request: Request) -> QuerySet[SavedSearch]:
    return SavedSearch.objects.filter(owner=_user(request))
