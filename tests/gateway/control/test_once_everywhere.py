"""Every POST of the OpenAPI document takes Idempotency-Key, or refuses it by name; the document is what is served."""

from __future__ import annotations

from itertools import count
from typing import Any

import httpx
import pytest

from console.idempotency import MAX_KEY
from tests.gateway.control.conftest import Control

pytestmark = pytest.mark.gantry_only("no broker takes part")

# A repetition of signing in must not hand out the first one's session; the others change nothing.
WITHOUT_KEY = {
    "login", "logout", "checkAccess", "coverPatterns", "lookUpKeys", "previewSchedule", "probeCluster", "scanMessages"
}  # fmt: skip
_names = count(1)

Post = tuple[str, dict[str, Any]]


@pytest.fixture(scope="module")
def posts(control: Control) -> list[Post]:
    """Path and operation of every POST; the names in a path are those of nothing."""
    document = control.as_("admin").get("/api/v1/openapi.json").json()
    return [(_filled(path, each["post"]), each["post"]) for path, each in document["paths"].items() if "post" in each]


def _filled(path: str, operation: dict[str, Any]) -> str:
    for parameter in operation.get("parameters", ()):
        value = "local" if parameter["name"] == "cluster" else f"nothing-{next(_names)}"
        if parameter["schema"]["type"] == "integer":
            value = "987654321"
        path = path.replace(f"{{{parameter['name']}}}", value)
    return path


def send(control: Control, post: Post, key: str) -> httpx.Response:
    """Send a POST with a key, and an empty object if it has a body."""
    path, operation = post
    body: dict[str, Any] = {"json": {}} if "requestBody" in operation else {}
    headers = {"Idempotency-Key": key}
    if any(each["name"] == "If-Match" for each in operation.get("parameters", ())):
        headers["If-Match"] = "*"
    return control.as_("admin").post(path, headers=headers, **body)


def test_the_document_has_the_key_for_all_but_these(posts: list[Post]) -> None:
    silent = {
        operation["operationId"]
        for _, operation in posts
        if not any(each["name"] == "Idempotency-Key" for each in operation.get("parameters", ()))
    }
    assert silent == WITHOUT_KEY


def test_every_post_answers_a_repetition_with_the_first_answer(control: Control, posts: list[Post]) -> None:
    for post in posts:
        name = post[1]["operationId"]
        if name in WITHOUT_KEY:
            continue
        first, again = (send(control, post, f"twice-{name}") for _ in range(2))
        assert first.status_code < 500, (name, first.text)
        assert again.headers.get("idempotency-replayed") == "true", (name, first.text, again.text)
        assert (again.status_code, again.content) == (first.status_code, first.content), name


def test_every_post_refuses_a_key_that_is_too_long_or_not_served(control: Control, posts: list[Post]) -> None:
    for post in posts:
        name = post[1]["operationId"]
        answer = send(control, post, "k" if name in WITHOUT_KEY else "k" * (MAX_KEY + 1))
        assert answer.status_code == 422, (name, answer.text)
        assert "Idempotency-Key" in {error["pointer"] for error in answer.json()["errors"]}, (name, answer.text)
