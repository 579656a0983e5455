"""Requirement of the whole API: every invalid request is answered by a problem that says why, and never by a 500.

Walks the OpenAPI document: each parameter and each field of a body in turn holds each of the values that once broke
something like it, all else being as it should.
"""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, TypeVar
from urllib.parse import quote

import httpx
import pytest

from tests.gateway.installation import Installation

TEXTS: Final = [
    "0" * 5000 + "9",
    "9" * 30,
    "9" * 400,
    "000000001" + "9" * 5000,
    "99",
    "-1",
    "1e999",
    "9999-12-31T23:59:59-14:00",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59.999999Z",
    "2026-13-45T99:99:99Z",
    "nul\0here",
    "\u0661\u0662",  # digits that are not ASCII
    "x" * 3000,
]
DEEP: Final = "[" * 10_000 + "]" * 10_000
# As JSON text: JSON allows more than Python's json writes.
VALUES: Final = [
    "1e999", "9" * 30, "-" + "9" * 400, "1." + "1" * 400, DEEP, '"\\ud800"', '"\\u0000"', "null", "{}", "[null]", '""',
    *(json.dumps(text) for text in TEXTS if len(text) != 5001),
]  # fmt: skip
WHOLE_BODIES: Final = [
    DEEP.encode(), b"9" * 400, b"1e999", b"NaN", b'{"a": NaN}', b"\xff\xfe{}", b"", b"{", b'"x"', b"null", b"[]",
    b'{"a":' * 10_000, b'{"\\ud800": 1}',
]  # fmt: skip
HEADERS: Final = [
    {"Content-Type": "application/json; charset=base64"},
    {"Content-Type": "application/json; charset=nonsense"},
    {"Content-Type": "text/\xff"},
    {"Accept": "nonsense"},
    {"Accept-Language": "\xff"},
    {"Idempotency-Key": "\xff" * 300},
    {"Idempotency-Key": "k"},
    {"If-Match": "\xff"},
    {"Cookie": "gantry_session=\xff; csrftoken=\xff"},
    {"X-Request-Id": "\xff" * 100},
    {"X-Forwarded-For": "nonsense, ,"},
    {"X-CSRFToken": "\xff"},
]
# One of each plane and kind.
WITH_HEADERS: Final = {
    "login",
    "getMe",
    "createTopic",
    "updateTopic",
    "listJobs",
    "startJob",
    "produceMessages",
    "ackMessages",
}
# Operations that end the caller's token or wait for messages.
LEFT_OUT: Final = {"logout", "deleteToken", "deleteUser", "updateUser"}

# After this many operations got all values for a parameter or a field of one name, the others share the values.
ENOUGH: Final = 1
# One reader takes all bodies of a plane apart; after this many operations the others share what is no body at all.
ENOUGH_BODIES: Final = 3
# Another operation reads the parts of these bodies that begin like this in the same way.
READ_ELSEWHERE: Final = {"createSchedule": ["job"], "updateSchedule": []}

# A valid body except for the value under test.
BASES: Final[dict[str, dict[str, Any]]] = {
    "createToken": {"name": "nasty", "scopes": ["read"]},
    "startJob": {"type": "replay", "source": {"topic": "nothing"}, "target": {"topic": "nothing-else"}},
    "createSchedule": {
        "name": "nasty", "cron": "0 0 1 1 *",
        "job": {"type": "replay", "source": {"topic": "nothing"}, "target": {"topic": "nothing-else"}},
    },
    "createCluster": {"name": "nasty", "name_servers": ["127.0.0.1:1"]},
    "createTopic": {"name": "nasty"},
    "createGroup": {"name": "nasty"},
    "produceMessages": {"body": {"encoding": "text", "data": "x"}},
}  # fmt: skip

# The values for names in paths; "nothing" for all others.
USUAL: Final = {
    "cluster": "local", "queue_id": "0", "user_id": "999999", "token_id": "999999", "search_id": "999999",
    "replica": "999999",
}  # fmt: skip

Operation = tuple[str, str, dict[str, Any]]
Value = TypeVar("Value")


@pytest.fixture(scope="module")
def admin(installation: Installation) -> Iterator[httpx.Client]:
    """A client that may do everything; its usual topic, group and schedule exist."""
    with installation.client() as client:
        for kind, name in (("topics", "nothing"), ("topics", "copy"), ("groups", "nothing")):
            made = client.post(f"/api/v1/clusters/local/{kind}", json={"name": name})
            assert made.status_code == 201, made.text
        job = {"type": "replay", "source": {"topic": "nothing"}, "target": {"topic": "copy"}}
        made = client.post("/api/v1/schedules", json={"name": "usual", "cron": "0 0 1 1 *", "job": job})
        assert made.status_code == 201, made.text
        USUAL["schedule_id"] = made.json()["id"]
        yield client


@pytest.fixture(scope="module")
def document(admin: httpx.Client) -> dict[str, Any]:
    """The OpenAPI document."""
    found: dict[str, Any] = admin.get("/api/v1/openapi.json").json()
    return found


def operations(document: dict[str, Any]) -> Iterator[Operation]:
    """Return method, path and description of every operation that may be tried."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if operation["operationId"] not in LEFT_OUT:
                yield method.upper(), path, operation


def fitting(path: str) -> str:
    """Return a path with a name in each place."""
    return re.sub(r"{(\w+)}", lambda found: USUAL.get(found[1], "nothing"), path)


def parameters(operation: dict[str, Any], place: str) -> list[str]:
    """Return the names of an operation's parameters in ``path``, ``query`` or ``header``."""
    return [each["name"] for each in operation.get("parameters", ()) if each["in"] == place]


def compared(operation: dict[str, Any]) -> list[str]:
    """Return the header that names the version to change, if the operation takes it."""
    return [each for each in parameters(operation, "header") if each == "If-Match"]


def fields(document: dict[str, Any], operation: dict[str, Any]) -> Iterator[list[str]]:
    """Return where the fields of an operation's body are, as deep as its shape goes."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    yield from _fields(document, content.get("schema", {}), [])


def _fields(document: dict[str, Any], schema: dict[str, Any], place: list[str]) -> Iterator[list[str]]:
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    for branch in (*schema.get("allOf", ()), *schema.get("oneOf", ()), *schema.get("anyOf", ())):
        yield from _fields(document, branch, place)
    if len(place) < 3:
        for name, inner in schema.get("properties", {}).items():
            yield [*place, name]
            yield from _fields(document, inner, [*place, name])


def body_with(operation: dict[str, Any], place: list[str], value: str) -> bytes:
    """Return the body of an operation with `value` (JSON text) in one place."""
    body = inner = copy.deepcopy(BASES.get(operation["operationId"], {}))
    for name in place[:-1]:
        inner = inner.setdefault(name, {}) if isinstance(inner.get(name, {}), dict) else {}
    inner[place[-1]] = "@value@"
    return json.dumps(body).replace('"@value@"', value).encode()


def assert_handled(answer: httpx.Response, what: str) -> None:
    """Check that the answer is not a 500, and that a refusal is a problem."""
    asked = f"{answer.request.method} {what}: {answer.status_code} {answer.text[:300]}"
    # The walk itself adds clusters that do not exist; reporting that is correct.
    is_away = answer.status_code == 503 and answer.json()["code"] == "BROKER_UNREACHABLE"
    assert answer.status_code < 500 or is_away, asked
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json", asked
        assert answer.json()["request_id"] == answer.headers["x-request-id"], asked


class Shares:
    """Gives all values to the first few uses of a name, and every eighth to each use after them."""

    def __init__(self, enough: int = ENOUGH) -> None:
        self._enough = enough
        self._uses: Counter[str] = Counter()

    def of(self, name: str, values: list[Value]) -> list[Value]:
        """Return the values for one more use of a name; eight uses in turn cover all of them."""
        self._uses[name] += 1
        return values if self._uses[name] <= self._enough else values[self._uses[name] % 8 :: 8]


def test_values_in_paths_and_queries(admin: httpx.Client, document: dict[str, Any]) -> None:
    shares = Shares()
    for method, path, operation in operations(document):
        body = None if method in ("GET", "DELETE") else b"{}"
        headers = {"Content-Type": "application/json"}
        for name in parameters(operation, "path"):
            for text in shares.of(name, TEXTS):
                changed = fitting(path.replace("{" + name + "}", quote(text, safe="")))
                assert_handled(
                    admin.request(method, changed, content=body, headers=headers), f"{path} {name} {text[:40]!r}"
                )
        for name in parameters(operation, "query"):
            for text in shares.of(name, TEXTS):
                query = {"topic": "nothing", "key": "k", "offset": "0", name: text}
                known = {each: query[each] for each in query if each in parameters(operation, "query")}
                answer = admin.request(method, fitting(path), params=known, content=body, headers=headers)
                assert_handled(answer, f"{path}?{name}={text[:40]!r}")


def test_values_in_bodies(admin: httpx.Client, document: dict[str, Any]) -> None:
    shares, bodies = Shares(), Shares(ENOUGH_BODIES)
    for method, path, operation in operations(document):
        if "requestBody" not in operation:
            continue
        headers = {"Content-Type": "application/json"} | dict.fromkeys(compared(operation), "*")
        plane = "data" if operation["tags"] == ["data plane"] else "control"
        for whole in bodies.of(plane, WHOLE_BODIES):
            answer = admin.request(method, fitting(path), content=whole, headers=headers)
            assert_handled(answer, f"{path} {whole[:40]!r}")
        elsewhere = READ_ELSEWHERE.get(operation["operationId"])
        for place in fields(document, operation):
            is_read_elsewhere = elsewhere is not None and place[: len(elsewhere)] == elsewhere
            for value in shares.of("elsewhere" if is_read_elsewhere else place[-1], VALUES):
                answer = admin.request(
                    method, fitting(path), content=body_with(operation, place, value), headers=headers
                )
                assert_handled(answer, f"{path} {'.'.join(place)}={value[:40]}")


def test_headers(admin: httpx.Client, document: dict[str, Any]) -> None:
    for method, path, operation in operations(document):
        if operation["operationId"] not in WITH_HEADERS:
            continue
        for headers in HEADERS:
            encoded = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
            body = None if method in ("GET", "DELETE") else b"{}"
            answer = admin.request(method, fitting(path), headers=encoded, content=body)
            assert_handled(answer, f"{path} {headers}")


@pytest.mark.parametrize("size", [1, 9])
def test_a_body_over_the_limit(admin: httpx.Client, document: dict[str, Any], size: int) -> None:
    content = b'{"x":"' + b"x" * (size * 1024 * 1024) + b'"}'
    for method, path, operation in operations(document):
        is_data = operation["tags"] == ["data plane"]
        if "requestBody" not in operation or (is_data and size < 8):
            continue
        answer = admin.request(method, fitting(path), content=content, headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.json()["code"]) == (413, "BODY_TOO_LARGE"), path
        assert_handled(answer, path)


@pytest.mark.parametrize("method", ["OPTIONS", "FLY"])
def test_a_method_that_is_not_served_is_told_all_that_are(
    admin: httpx.Client, document: dict[str, Any], method: str
) -> None:
    served = {path: {each.upper() for each in methods} for path, methods in document["paths"].items()}
    served = {path: methods | ({"HEAD"} if "GET" in methods else set()) for path, methods in served.items()}
    for path in ("/", "/api/v1/openapi.json", "/healthz", "/readyz", "/metrics"):
        served[path] = {"GET", "HEAD"}
    for path, methods in served.items():
        answer = admin.request(method, fitting(path))
        assert (answer.status_code, answer.json()["code"]) == (405, "METHOD_NOT_ALLOWED"), f"{method} {path}"
        assert set(answer.headers["allow"].split(", ")) == methods, path


def test_an_unknown_action_is_not_found_as_any_unknown_path_is(admin: httpx.Client, document: dict[str, Any]) -> None:
    for path in document["paths"]:
        if ":" not in path.rpartition("/")[2]:
            answer = admin.post(f"{fitting(path)}:explode", content=b"{}")
            assert (answer.status_code, answer.json()["code"]) == (404, "NOT_FOUND"), path
            assert_handled(answer, path)
            assert "allow" not in answer.headers


@pytest.mark.parametrize("role", ["admin", None])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "FLY"])
def test_an_unknown_path_is_not_found_whatever_the_method(
    installation: Installation, method: str, role: str | None
) -> None:
    unknown = [
        "/api", "/api/v1", "/api/v1/", "/api/v1/nothing", "/api/v1/topics", "/api/v2/topics", "/ws/v1/nothing",
        "/static/x", "/assets/x.js", "/api/v1/clusters/local/nothing", "/api/v1/clusters/local/topics/t/nothing",
        "/api/v1/clusters/local/groups/g/topics/t:fly", "/api/v1/clusters/local/groups/g/topics/t",
        "/api/v1/users/x", "/api/v1/users/-1", "/api/v1/clusters/local/topics/t/queues/x/messages",
    ]  # fmt: skip
    with installation.client(role) as client:
        for path in unknown if method in ("GET", "HEAD") else [*unknown, "/nonsense", "/topics/orders"]:
            answer = client.request(method, path, content=b"{}" if method == "POST" else None)
            assert answer.status_code == 404, f"{method} {path}: {answer.status_code} {answer.text[:200]}"
            assert answer.headers["content-type"] == "application/problem+json", path


def test_what_no_broker_would_take_is_refused_before_it_is_asked(admin: httpx.Client) -> None:
    topic = "/api/v1/clusters/local/topics/nothing"
    body = {"encoding": "text", "data": "x"}
    for entry in ({"keys": ["\u4e2d" * 255] * 64}, {"properties": {"a": "x" * 31_000}}):
        answer = admin.post(f"{topic}/messages", json={"body": body, **entry})
        assert (answer.status_code, answer.json()["code"]) == (422, "INVALID"), entry
        assert answer.json()["errors"][0]["pointer"] == "#/properties"
    raw = [(b"Content-Type", b"text/plain"), *((b"MQ-Key", b"x" * 2000) for _ in range(20))]
    assert admin.post(f"{topic}/messages", content=b"x", headers=raw).status_code == 422
    for path in ("/messages?queue=99", "/queues/99/messages?offset=0", "/queues/0/messages?offset=0&broker=mars"):
        answer = admin.get(topic + path)
        assert (answer.status_code, answer.json()["code"]) == (422, "INVALID"), path
