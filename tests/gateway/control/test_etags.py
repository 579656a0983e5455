"""Requirements of `console.etags` for requests that arrive at once, on a whole gateway."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import httpx
import pytest

from tests.gateway.control.conftest import Control


def at_once(requests: Sequence[Callable[[], httpx.Response]]) -> Counter[tuple[int, str]]:
    """Send the requests at once; return how often each status and code was the answer."""
    with ThreadPoolExecutor(len(requests)) as pool:
        answers = [each.result() for each in [pool.submit(send) for send in requests]]
    return Counter((answer.status_code, answer.json().get("code", "")) for answer in answers)


def made(control: Control, kind: str) -> tuple[str, list[dict[str, Any]]]:
    """Create a resource; return its path and eight different changes."""
    admin, numbers = control.as_("admin"), range(1, 9)
    if kind == "topics":
        return f"{control.path}/topics/{control.topic()}", [{"write_queues": 1 + n} for n in numbers]
    if kind == "groups":
        return f"{control.path}/groups/{control.group()}", [{"retry_max_times": n} for n in numbers]
    if kind == "users":
        body: dict[str, Any] = {"username": control.name("ann"), "password": "correct horse battery", "role": "viewer"}
        path = f"/api/v1/users/{admin.post('/api/v1/users', json=body).json()['id']}"
        return path, [{"role": "operator" if n % 2 else "developer"} for n in numbers]
    if kind == "clusters":
        body = {"name": control.name("mars"), "name_servers": ["127.0.0.1:1"]}
        assert admin.post("/api/v1/clusters", json=body).status_code == 201
        return f"/api/v1/clusters/{body['name']}", [{"name_servers": [f"127.0.0.1:{1 + n}"]} for n in numbers]
    job = {
        "type": "replay",
        "cluster": control.cluster,
        "source": {"topic": control.topic()},
        "target": {"topic": control.topic()},
    }
    body = {"name": control.name("nightly"), "cron": "0 2 1 1 *", "job": job}
    path = f"/api/v1/schedules/{admin.post('/api/v1/schedules', json=body).json()['id']}"
    return path, [{"cron": f"{n} 2 1 1 *"} for n in numbers]


@pytest.mark.parametrize("kind", ["topics", "groups", "users", "clusters", "schedules"])
def test_one_of_many_changes_of_one_version_is_made(control: Control, kind: str) -> None:
    path, changes = made(control, kind)
    admin = control.as_("admin")
    read = admin.get(path)
    condition = {"If-Match": read.headers["etag"]}
    answers = at_once([partial(admin.patch, path, json=each, headers=condition) for each in changes])
    assert answers == {(200, ""): 1, (412, "PRECONDITION_FAILED"): 7}
    assert admin.get(path).headers["etag"] != read.headers["etag"]
    if kind == "clusters":  # it answers nobody, and other tests ask all clusters
        assert admin.delete(path, headers={"If-Match": "*"}).status_code == 204


@pytest.mark.parametrize("kind", ["topics", "groups"])
def test_one_of_many_creations_at_once_is_made(control: Control, kind: str) -> None:
    admin, body = control.as_("admin"), {"name": control.name()}
    answers = at_once([lambda: admin.post(f"{control.path}/{kind}", json=body)] * 8)
    assert answers == {(201, ""): 1, (409, "ALREADY_EXISTS"): 7}
