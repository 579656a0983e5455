"""Requirements of `console.searches`: saved searches over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from console.audit.models import AuditRecord
from console.clusters.models import Cluster
from console.searches.services import MOST
from tests.support.cast import Cast

pytestmark = pytest.mark.django_db

PATH = "/api/v1/me/searches"
QUERY = {"mode": "content", "topic": "orders", "where": "$.amount >= 12345678901234567890123", "span": "24h"}


@pytest.fixture(autouse=True)
def cluster(db: None) -> str:
    """A cluster, which need not answer."""
    Cluster.objects.get_or_create(name="local", defaults={"name_servers": ["127.0.0.1:9"]})
    return "local"


@pytest.fixture
def viewer(cast: Cast) -> Any:
    return cast.browser("viewer")


def saved(client: Any, name: str = "large orders", query: dict[str, str] = QUERY) -> Any:
    return client.post(PATH, {"name": name, "cluster": "local", "query": query}, format="json")


def test_a_search_is_saved_listed_renamed_and_removed(viewer: Any) -> None:
    search = saved(viewer).json()
    assert (search["name"], search["cluster"], search["query"]) == ("large orders", "local", QUERY)
    assert viewer.get(PATH).json() == {"items": [search]}
    path = f"{PATH}/{search['id']}"
    assert viewer.patch(path, {"name": "x"}, format="json").status_code == 428
    changed = viewer.patch(path, {"name": "huge"}, format="json", headers={"If-Match": search["etag"]}).json()
    assert (changed["name"], changed["query"]) == ("huge", QUERY)
    assert viewer.delete(path, headers={"If-Match": search["etag"]}).status_code == 412
    assert viewer.delete(path, headers={"If-Match": changed["etag"]}).status_code == 204
    assert viewer.get(path).status_code == 404
    actions = AuditRecord.objects.filter(resource=f"searches/{search['id']}").order_by("pk")
    assert [each.action for each in actions] == ["search.create", "search.update", "search.delete"]
    # What was looked for is nobody else's business
    assert "12345678901234567890123" not in str([(each.before, each.after) for each in actions])


def test_a_token_of_the_user_does_not_reach_them(cast: Cast, viewer: Any) -> None:
    search = saved(viewer).json()
    program = cast.program("viewer")
    for answer in (program.get(PATH), saved(program, "other"), program.delete(f"{PATH}/{search['id']}")):
        assert answer.status_code == 403, answer.content
    assert program.patch("/api/v1/me", {"language": "zh"}, format="json").status_code == 403
    assert program.get("/api/v1/me").status_code == 200
    assert cast.program("admin", "admin").get(PATH).json() == {"items": []}


def test_searches_belong_to_one_user(cast: Cast, viewer: Any) -> None:
    search = saved(viewer).json()
    other = cast.browser("admin")
    assert other.get(PATH).json() == {"items": []}
    assert other.get(f"{PATH}/{search['id']}").status_code == 404
    assert other.delete(f"{PATH}/{search['id']}", headers={"If-Match": "*"}).status_code == 404
    # And two users may use the same name, but nobody twice
    assert saved(other).status_code == 201
    assert saved(viewer).status_code == 409


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"mode": "key", "topic": "orders"}, "#/query/key"),
        ({"mode": "guess", "topic": "orders"}, "#/query/mode"),
        ({"mode": "offset", "topic": "orders", "queue": "0", "offset": "last"}, "#/query/offset"),
        ({"mode": "time", "topic": "orders", "colour": "red"}, "#/query/colour"),
    ],
)
def test_what_is_no_search_is_refused_by_name(viewer: Any, query: dict[str, str], pointer: str) -> None:
    answer = saved(viewer, query=query)
    assert answer.status_code == 422
    assert [each["pointer"] for each in answer.json()["errors"]] == [pointer]


def test_a_cluster_that_is_not_there_and_one_search_too_many_are_refused(viewer: Any) -> None:
    gone = viewer.post(PATH, {"name": "x", "cluster": "gone", "query": QUERY}, format="json")
    assert gone.status_code == 404
    for n in range(MOST):
        assert saved(viewer, str(n)).status_code == 201
    assert "which is the most" in saved(viewer, "more").json()["detail"]
