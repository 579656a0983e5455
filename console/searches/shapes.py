"""JSON shapes of saved searches."""

from __future__ import annotations

from typing import Any, Final, Literal, get_args

from msgspec import Struct
from rest_framework import serializers

from console.etags import etag
from console.fields import NameField, moment
from console.moments import Moment
from console.searches.models import SavedSearch

Mode = Literal["key", "keys", "id", "time", "offset", "content"]
MODES: Final = list(get_args(Mode))
SPANS: Final = ["1h", "24h", "3d", "7d", "all", "custom"]
_NEEDED: Final[dict[str, tuple[str, ...]]] = {
    "key": ("topic", "key"),
    "keys": ("keys",),
    "id": ("topic", "id"),
    "time": ("topic",),
    "offset": ("topic", "queue", "offset"),
    "content": ("topic",),
}
"""What each mode cannot do without."""


class SavedSearchState(Struct, frozen=True, kw_only=True):
    """A saved search."""

    id: int
    name: str
    cluster: str
    query: dict[str, str]
    created_at: Moment
    updated_at: Moment
    etag: str


class SavedSearchList(Struct, frozen=True):
    """All saved searches of the caller, by name."""

    items: list[SavedSearchState]


class SearchQuerySerializer(serializers.Serializer[Any]):
    """The parameters of the page Messages; a `span` counts back from the moment at which the search is opened."""

    mode = serializers.ChoiceField(MODES)
    topic = serializers.CharField(max_length=255, required=False)
    key = serializers.CharField(max_length=1_000, required=False)
    keys = serializers.CharField(max_length=60_000, required=False, help_text="Keys with blanks between them.")
    id = serializers.CharField(max_length=1_000, required=False)
    queue = serializers.RegexField(r"^[0-9]{1,15}$", required=False)
    broker = serializers.CharField(max_length=255, required=False, help_text="Where the queue is.")
    offset = serializers.RegexField(r"^[0-9]{1,15}$", required=False)
    where = serializers.CharField(max_length=10_000, required=False, help_text="A filter as one line of text.")
    span = serializers.ChoiceField(SPANS, required=False)
    to = serializers.CharField(max_length=40, required=False, help_text="A moment.")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields, with `from`, which Python cannot declare."""
        begin = serializers.CharField(max_length=40, required=False, help_text="A moment.")
        return {**super().get_fields(), "from": begin}

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        """Refuse a search that could not be run."""
        missing = [name for name in _NEEDED[values["mode"]] if not values.get(name)]
        if missing:
            raise serializers.ValidationError(dict.fromkeys(missing, f"a search by {values['mode']} needs it"))
        return values


class SavedSearchCreateSerializer(serializers.Serializer[Any]):
    """A search to save."""

    name = NameField(max_length=100)
    cluster = serializers.CharField(max_length=200)
    query = SearchQuerySerializer()


class SavedSearchChangeSerializer(serializers.Serializer[Any]):
    """What to change of a saved search."""

    name = NameField(max_length=100, required=False)
    query = SearchQuerySerializer(required=False)


def search_tag(search: SavedSearch) -> str:
    """Return the tag of the fields that can be changed."""
    return etag([search.pk, search.name, search.query])


def search_state(search: SavedSearch) -> SavedSearchState:
    """Return a saved search as it is shown."""
    return SavedSearchState(
        id=search.pk,
        name=search.name,
        cluster=search.cluster,
        query=search.query,
        created_at=moment(search.created_at),
        updated_at=moment(search.updated_at),
        etag=search_tag(search),
    )
