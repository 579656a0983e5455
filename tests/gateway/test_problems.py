"""Requirements of `gateway.problems`."""

from __future__ import annotations

import orjson
import pytest

from broker_core.client import errors as client
from console.clusters.connections import ClusterSilent
from gateway import problems
from gateway.problems import FieldError, ProblemError, ProblemKind, find_problem, internal, respond

KINDS = [value for value in vars(problems).values() if isinstance(value, ProblemKind)]


def test_codes_are_stable_names_and_no_two_kinds_share_one() -> None:
    codes = [kind.code for kind in KINDS]
    assert len(set(codes)) == len(codes)
    assert all(code == code.upper() and code.replace("_", "").isalpha() for code in codes)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.code)
def test_only_what_is_retryable_says_when_to_try_again(kind: ProblemKind) -> None:
    assert 400 <= kind.status < 600
    assert kind.retryable or kind.retry_after_s is None
    assert kind.type.startswith("urn:gantry:problem:")


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (client.TopicNotFound("orders"), 404, "TOPIC_NOT_FOUND"),
        (client.TopicReadOnly("orders"), 409, "TOPIC_READ_ONLY"),
        (client.NoRoute("orders"), 503, "NO_ROUTE"),
        (client.NoMaster("broker-a"), 503, "BROKER_UNREACHABLE"),
        (client.MessageTooLarge(5, 4), 413, "MESSAGE_TOO_LARGE"),
        (client.SendUncertain("orders", "h:1", "no answer"), 504, "SEND_UNCERTAIN"),
        (client.LeaseExpired("orders", 1, 2), 409, "RECEIPT_EXPIRED"),
        (client.BrokerBusy(2, "busy", "h:1"), 503, "BROKER_BUSY"),
        (client.BrokerUnavailable(14, "disk full", "h:1"), 503, "BROKER_CANNOT_STORE"),
        (client.BrokerRefused(1, "odd", "h:1"), 502, "BROKER_REFUSED"),
        (client.ClientClosed("closed"), 503, "DRAINING"),
    ],
)
def test_an_error_of_the_client_is_a_problem_by_the_table(error: Exception, status: int, code: str) -> None:
    problem = find_problem(error)
    assert problem is not None
    assert (problem.kind.status, problem.kind.code) == (status, code)
    assert problem.detail == str(error)


@pytest.mark.parametrize(
    ("code", "remark"),
    [
        (1, "done, but [NOT_CONFIRMED] not known to be on all replicas in sync; a switch may take it back"),
        (1, "[NOT_CONFIRMED] forwarded to the master, which did not answer: closed"),
        (10, "done, but not known to be on the disk"),
        (14, "done, but another replica is the master now; it may have been taken back"),
    ],
)
def test_what_a_broker_did_without_knowing_that_it_stays_is_not_said_to_be_refused(code: int, remark: str) -> None:
    problem = find_problem(client.refusal(code, remark, "h:1"))
    assert problem is not None
    assert (problem.kind.status, problem.kind.code, problem.kind.retryable) == (504, "TIMED_OUT", True)
    assert problem.detail == "The broker at h:1 did it, but does not know that it stays: ask again."


def test_what_was_sent_and_not_answered_is_not_said_to_be_undone() -> None:
    lost = client.Unreachable("h:1", "closed", was_sent=True)
    of_name_server = client.Unreachable("h:1", "closed", was_sent=True)
    of_name_server.of_name_server = True
    found = [find_problem(error) for error in (client.Unreachable("h:1", "refused"), lost, of_name_server)]
    codes = [each.kind.code for each in found if each is not None]
    assert codes == ["BROKER_UNREACHABLE", "TIMED_OUT", "BROKER_UNREACHABLE"]


@pytest.mark.parametrize(
    ("error", "detail"),
    [
        (client.TimedOut("h:1", 3000), "broker-b at h:1 did not answer within 3 s."),
        (client.BrokerUnavailable(14, "disk full", "h:1"), "broker-b at h:1 refused: disk full."),
        (
            client.SendUncertain("orders", "h:1", "no answer", broker_name="broker-b"),
            "topic 'orders': sent to broker-b at h:1, state unknown: no answer",
        ),
    ],
)
def test_a_broker_is_named_where_its_name_is_known(error: client.ClientError, detail: str) -> None:
    error.broker_name = "broker-b"
    problem = find_problem(error)
    assert problem is not None
    assert problem.detail == detail


@pytest.mark.parametrize(
    ("error", "code", "detail"),
    [
        (client.TimedOut("h:1", 3000), "TIMED_OUT", "The broker at h:1 did not answer within 3 s."),
        (
            client.Unreachable("h:1", "[Errno 111] refused"),
            "BROKER_UNREACHABLE",
            "The broker at h:1 cannot be reached.",
        ),
        (
            client.NotSupported(3, " request type 200050 not supported", "h:1"),
            "NOT_SERVED_BY_BROKER",
            "The broker at h:1 does not support leases; RocketMQ 5 and Gantry do.",
        ),
        (
            client.NotSupported(3, " request type 999 not supported", "h:1"),
            "NOT_SERVED_BY_BROKER",
            "The broker at h:1 does not support requests of type 999.",
        ),
        (
            client.FilterNotServed(1, "The broker does not support consumer to filter message by SQL92", "h:1"),
            "NOT_SERVED_BY_BROKER",
            "The broker at h:1 filters by tags alone: its enablePropertyFilter is off.",
        ),
        (
            client.SubscriptionRefused(23, "parse the consumer's subscription failed", "h:1"),
            "FILTER_REFUSED",
            "The broker at h:1 refused: parse the consumer's subscription failed.",
        ),
        (
            client.MessageIllegal(13, "too many properties", "h:1"),
            "MESSAGE_ILLEGAL",
            "The broker refused: too many properties.",
        ),
        (
            client.MessageIllegal(13, "the delay time should not be bigger than the max delay 60000ms: 90000ms", "h:1"),
            "DELAY_NOT_SERVED",
            "The broker keeps messages for at most 1 min.",
        ),
        (client.ParameterIllegal(29, "maxMsgNums 32", "h:1"), "INVALID", "The broker refused: maxMsgNums 32."),
        (ClusterSilent("moon", 10), "TIMED_OUT", "The cluster did not answer within 10 s."),
    ],
)
def test_why_a_broker_does_not_answer_or_cannot_is_said_in_words(error: Exception, code: str, detail: str) -> None:
    problem = find_problem(error)
    assert problem is not None
    assert (problem.kind.code, problem.detail) == (code, detail)


@pytest.mark.parametrize(
    ("request_type", "capability"),
    [(200050, "lease"), (30101, "scheduled"), (370, "scheduled"), (351, "message_type"), (999, None)],
)
def test_what_a_cluster_lacks_is_named(request_type: int, capability: str | None) -> None:
    problem = find_problem(client.NotSupported(3, f" request type {request_type} not supported", "h:1"))
    assert problem is not None
    document = problem.document(instance="/", request_id="1")
    assert (document["code"], document.get("capability")) == ("NOT_SERVED_BY_BROKER", capability)


def test_an_error_nobody_foresaw_is_no_problem_of_the_table() -> None:
    assert find_problem(ZeroDivisionError()) is None
    assert internal("r-1").detail.endswith("under request r-1.")


def test_the_answer_is_problem_json_with_all_that_rfc_9457_and_ours_name() -> None:
    problem = ProblemError(
        problems.BROKER_BUSY,
        "The broker is busy.",
        errors=[FieldError("#/messages/2", "BROKER_BUSY", "busy")],
        extra={"stored": 0},
    )
    status, headers, body = respond(problem, instance="/api/v1/x", request_id="r-7")
    assert status == 503
    assert dict(headers) == {
        b"content-type": b"application/problem+json",
        b"content-length": str(len(body)).encode(),
        b"retry-after": b"1",
    }
    assert orjson.loads(body) == {
        "type": "urn:gantry:problem:broker-busy",
        "title": "The broker is busy",
        "status": 503,
        "detail": "The broker is busy.",
        "instance": "/api/v1/x",
        "code": "BROKER_BUSY",
        "request_id": "r-7",
        "retryable": True,
        "errors": [{"pointer": "#/messages/2", "code": "BROKER_BUSY", "detail": "busy"}],
        "stored": 0,
    }


@pytest.mark.parametrize(
    ("path", "instance"),
    [
        ("/api/v1/topics/bad name", "/api/v1/topics/bad%20name"),
        ("/api/v1/topics/50%/ä?#", "/api/v1/topics/50%25/%C3%A4%3F%23"),
        ("/api/v1/clusters/local/groups/g:pause", "/api/v1/clusters/local/groups/g:pause"),
        ("", ""),
    ],
)
def test_the_instance_is_a_uri_reference_of_the_path(path: str, instance: str) -> None:
    document = ProblemError(problems.NOT_FOUND, "No.").document(instance=path, request_id="r")
    assert document["instance"] == instance


def test_a_group_that_is_not_there_is_told_without_code_and_address() -> None:
    problem = find_problem(client.GroupNotFound(26, "no consumer group is named 'billing'", "local"))
    assert problem is not None
    assert (problem.kind, problem.detail) == (problems.GROUP_NOT_FOUND, "No consumer group is named 'billing'.")


def test_a_401_says_how_to_come_back() -> None:
    _, headers, _ = respond(ProblemError(problems.NOT_AUTHENTICATED, "Who?"), instance="/", request_id="r")
    assert dict(headers)[b"www-authenticate"].startswith(b"Bearer")
