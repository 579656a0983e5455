"""Requirements of the OpenAPI document: the console was built from it, and the API conforms to it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import jsonschema_rs
import pytest
import requests
import schemathesis
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from console.accounts.rights import ROLES
from gateway.control.examples import EXAMPLES
from tests.gateway.control.needs import operations
from tests.gateway.installation import Installation, running_installation
from tests.support.cluster import RunningBroker, started_broker

ROOT = Path(__file__).resolve().parents[3]
# Operations that end the caller's session or token, or wait for messages, are tested elsewhere.
LEFT_OUT = ["logout", "login", "deleteToken", "deleteUser", "updateUser", "receiveMessages"]
# What no example can hold, by operation.
ONLY_THE_CALLER_KNOWS = {
    "changePassword": "#/current",
    "ackMessages": "#/receipts/0",
    "nackMessages": "#/receipts/0",
    "extendLeases": "#/receipts/0",
}
# The built-in roles, and one of one's own with limited names.
CAST = [*ROLES, "oncall"]


def no_error_of_the_server(context: Any, response: Any, case: Any) -> bool | None:
    """Refuse every 5xx but those that the document announces: a health check that does not pass is answered so."""
    if str(response.status_code) in case.operation.definition.raw["responses"]:
        return None
    return not_a_server_error(context, response, case)


def refusals_that_are_declared(context: Any, response: Any, case: Any) -> bool | None:
    """Refuse 403 and 404 where the document has them only among all other problems."""
    status = str(response.status_code)
    assert status not in ("403", "404") or status in case.operation.definition.raw["responses"], response.text
    return None


def nothing_declared_is_unknown(context: Any, response: Any, case: Any) -> bool | None:
    """Refuse the answer that a field or a parameter of a valid request is not served."""
    if response.status_code == 422:
        errors = response.json().get("errors", ())
        assert not [each for each in errors if each["code"] in ("UNKNOWN_FIELD", "UNKNOWN_PARAMETER")], response.text
    return None


CHECKS = [
    no_error_of_the_server,
    refusals_that_are_declared,
    nothing_declared_is_unknown,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


def examples_of(operation: Any) -> list[Any]:
    """Return valid requests of an operation: as many as there are callers, or as it has."""
    cases: list[Any] = []

    @hypothesis.settings(
        max_examples=len(CAST), derandomize=True, database=None, suppress_health_check=list(hypothesis.HealthCheck)
    )
    @hypothesis.given(case=operation.as_strategy())
    def collect(case: Any) -> None:
        if "cluster" in case.path_parameters:
            case.path_parameters["cluster"] = "local"
        cases.append(case)

    collect()
    return cases


@pytest.fixture(scope="module")
def own_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A broker that may be filled with nonsense."""
    with started_broker(tmp_path_factory.mktemp("broker")) as running:
        yield running


@pytest.fixture(scope="module")
def own_installation(
    tmp_path_factory: pytest.TempPathFactory, own_broker: RunningBroker, redis_url: str
) -> Iterator[Installation]:
    """An installation that may be filled with nonsense."""
    data = tmp_path_factory.mktemp("fuzzed")
    with running_installation(data, name_server=own_broker.name_server, redis_url=redis_url) as running:
        yield running


@pytest.fixture
def empty_installation(tmp_path: Path, redis_url: str) -> Iterator[Installation]:
    """An installation whose names are all free, those of the examples too."""
    with (
        started_broker(tmp_path / "broker") as broker,
        running_installation(tmp_path / "data", name_server=broker.name_server, redis_url=redis_url) as running,
    ):
        yield running


@pytest.fixture(scope="module")
def api_schema(own_installation: Installation) -> Any:
    """The served document."""
    with own_installation.client() as client:
        made = client.post("/api/v1/clusters/local/topics", json={"name": "orders"})
        assert made.status_code == 201
    loaded = schemathesis.openapi.from_url(f"{own_installation.url}/api/v1/openapi.json")
    return loaded.exclude(operation_id=LEFT_OUT)


def test_whatever_is_sent_by_whomever_the_answer_is_one_of_the_document(
    api_schema: Any, own_installation: Installation
) -> None:
    with requests.Session() as session:
        session.trust_env = False
        for number, found in enumerate(api_schema.get_all_operations()):
            cases = examples_of(found.ok())
            # Everybody asks everything; the examples go round, so that nobody gets the smallest ones alone.
            for turn, who in enumerate(CAST):
                case = cases[(turn + number) % len(cases)]
                headers = {"Authorization": f"Bearer {own_installation.tokens[who]}"}
                case.call_and_validate(headers=headers, checks=CHECKS, session=session)


def test_a_wish_that_the_document_does_not_declare_is_refused_by_it_too(own_installation: Installation) -> None:
    with own_installation.client(None) as client:
        document = client.get("/api/v1/openapi.json").json()
    schemas = document["components"]["schemas"]
    bodies = {name: each for name, each in schemas.items() if name.endswith("Request") and "properties" in each}
    assert len(bodies) > 40
    assert not [name for name, each in bodies.items() if each.get("additionalProperties") is not False]


def test_the_console_was_made_from_this_document(own_installation: Installation) -> None:
    kept = json.loads((ROOT / "frontend" / "openapi.json").read_text())
    with own_installation.client(None) as client:
        served = client.get("/api/v1/openapi.json").json()
    assert kept == served, "run `manage.py spectacular --format openapi-json --file frontend/openapi.json`"


def test_every_operation_has_a_name_a_summary_and_a_shape(own_installation: Installation) -> None:
    with own_installation.client(None) as client:
        document = client.get("/api/v1/openapi.json").json()
    operations = [each for methods in document["paths"].values() for each in methods.values()]
    names = [each["operationId"] for each in operations]
    assert len(names) == len(set(names))
    assert all(each["summary"].endswith(".") for each in operations)
    for each in operations:
        for status, answer in each["responses"].items():
            assert status == "204" or answer["content"], each["operationId"]


def test_every_set_of_choices_has_a_name_that_stays(own_installation: Installation) -> None:
    with own_installation.client(None) as client:
        schemas = client.get("/api/v1/openapi.json").json()["components"]["schemas"]
    choices = [name for name, each in schemas.items() if "enum" in each]
    assert len(choices) > 40
    assert not [name for name in choices if re.search(r"\d\w{0,2}Enum$", name)], "name it in ENUM_NAME_OVERRIDES"


def test_the_data_plane_lists_its_headers_and_the_bodies_that_are_messages(own_installation: Installation) -> None:
    with own_installation.client(None) as client:
        paths = client.get("/api/v1/openapi.json").json()["paths"]
    produce = paths["/api/v1/clusters/{cluster}/topics/{topic}/messages"]["post"]
    headers = {each["name"] for each in produce["parameters"] if each["in"] == "header"}
    assert headers == {"Idempotency-Key", "MQ-Key", "MQ-Tag", "MQ-Ordering-Key", "MQ-Delay-Ms", "MQ-Deliver-At"}
    raw = {"text/plain", "application/octet-stream"}
    assert set(produce["requestBody"]["content"]) == raw | {"application/json", "application/x-ndjson"}
    for verb in ("receive", "ack", "nack", "extend"):
        lease = paths[f"/api/v1/clusters/{{cluster}}/groups/{{group}}/topics/{{topic}}:{verb}"]["post"]
        assert "Idempotency-Key" in {each["name"] for each in lease["parameters"]}


def test_each_body_to_begin_with_is_one_that_the_gateway_takes(empty_installation: Installation) -> None:
    with empty_installation.client() as client:
        document = client.get("/api/v1/openapi.json").json()
        for name in ("parcels", "parcels-copy"):
            assert client.post("/api/v1/clusters/local/topics", json={"name": name}).status_code == 201
        assert client.post("/api/v1/clusters/local/groups", json={"name": "depot"}).status_code == 201
        examples = {}
        refused = {}
        # What others need is deleted in the end, and the cluster that one creates is what the next one changes.
        for method, path, name, _ in sorted(
            operations(document, topic="parcels", group="depot", broker="broker-a"),
            key=lambda each: "delete" in each.name,
        ):
            if (found := json_body_of(document, name)) is None:
                continue
            examples[name] = found["example"]
            jsonschema_rs.validator_for({**found["schema"], "components": document["components"]}).validate(
                examples[name]
            )
            path = path.replace("/local", "/east") if name == "updateCluster" else path
            condition = {"If-Match": "*"} if "If-Match" in headers_of(document, name) else {}
            answer = client.request(method, path, json=examples[name], headers=condition)
            # The roles of this installation's broker are decided by no controller.
            taken = "NO_EFFECT", "NOT_SERVED_BY_BROKER"
            if answer.status_code in (400, 415, 422, 500) and answer.json()["code"] not in taken:
                refused[name] = {each["pointer"] for each in answer.json().get("errors", ())}
        assert refused == {name: {place} for name, place in ONLY_THE_CALLER_KNOWS.items()}
        assert examples.keys() == EXAMPLES.keys()


def json_body_of(document: dict[str, Any], name: str) -> Any:
    """Return the JSON body of an operation, None if it takes none."""
    return operation_of(document, name).get("requestBody", {}).get("content", {}).get("application/json")


def headers_of(document: dict[str, Any], name: str) -> set[str]:
    """Return the names of the headers that an operation takes."""
    return {each["name"] for each in operation_of(document, name).get("parameters", ()) if each["in"] == "header"}


def operation_of(document: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the description of an operation."""
    every = [each for methods in document["paths"].values() for each in methods.values()]
    [found] = [each for each in every if each["operationId"] == name]
    return dict(found)
