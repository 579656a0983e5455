"""Problems: every refusal of the API as RFC 9457 ``application/problem+json``.

A *kind* has what programs act on: the status, a stable code, and whether a retry may succeed. A *problem* is one
occurrence of a kind, with a sentence for people. The table `PROBLEMS` gives the kind of each exception of the client;
the gateway raises its own refusals as `ProblemError`. The adapter here serves raw ASGI. The adapter for DRF is
`gateway.problem_views`, since the data plane uses this module without a framework.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

import orjson

from broker_core.client import errors as client
from broker_core.client.admin.topics import NameIllegal
from broker_core.protocol.errors import MalformedProperties
from console.clusters.connections import ClusterNotFound, ClusterSilent, ClusterUnknown, NoBrokerListed
from console.clusters.reasons import is_too_far, lacking_of, reason_of

CONTENT_TYPE: Final = "application/problem+json"
# RFC 3986, pchar: what stands in a path as it is, besides letters, digits and "-._~".
_IN_PATHS: Final = "/:@!$&'()*+,;="


@dataclass(frozen=True, slots=True)
class ProblemKind:
    """One kind of failure: HTTP status, stable code, title, and whether the same request may succeed later."""

    status: int
    code: str
    title: str
    retryable: bool = False
    retry_after_s: int | None = None

    @property
    def type(self) -> str:
        """The URN of this kind (member "type" of RFC 9457)."""
        return "urn:gantry:problem:" + self.code.lower().replace("_", "-")


@dataclass(frozen=True, slots=True)
class FieldError:
    """One error in a request, at a JSON pointer into its body (``#/messages/2/tag``) or at the name of a header."""

    pointer: str
    code: str
    detail: str


class ProblemError(Exception):
    """A refused request: its kind, a sentence that names the resource and the value, and further fields and headers."""

    def __init__(
        self,
        kind: ProblemKind,
        detail: str,
        *,
        errors: Sequence[FieldError] = (),
        extra: Mapping[str, object] | None = None,
        retry_after_s: int | None = None,
        headers: Sequence[tuple[bytes, bytes]] = (),
        may_be_done: bool = False,
    ) -> None:
        """`may_be_done` is of a kind that does not say it by itself; who asked has to ask again."""
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.errors = tuple(errors)
        self.extra = dict(extra or {})
        self.retry_after_s = kind.retry_after_s if retry_after_s is None else retry_after_s
        self.headers = tuple(headers)
        self.may_be_done = may_be_done

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed later."""
        return self.kind.retryable or self.may_be_done

    def brief(self) -> dict[str, object]:
        """Return the short form, for a result of a batch or a WebSocket frame."""
        kind = self.kind
        return {"code": kind.code, "status": kind.status, "retryable": self.retryable, "detail": self.detail}

    def told(self) -> dict[str, object]:
        """Return the short form with the fields that are wrong, for an error frame of a socket."""
        return {**self.brief(), "errors": self._errors()} if self.errors else self.brief()

    def _errors(self) -> list[dict[str, str]]:
        return [{"pointer": each.pointer, "code": each.code, "detail": each.detail} for each in self.errors]

    def document(self, *, instance: str, request_id: str) -> dict[str, object]:
        """Return the whole problem document of the request at path `instance`, which is decoded as ASGI has it."""
        document: dict[str, object] = {
            "type": self.kind.type,
            "title": self.kind.title,
            "status": self.kind.status,
            "detail": self.detail,
            "instance": quote(instance, _IN_PATHS, errors="replace"),
            "code": self.kind.code,
            "request_id": request_id,
            "retryable": self.retryable,
        }
        if self.errors:
            document["errors"] = self._errors()
        return document | self.extra


# --- 400 to 415: the request cannot be read, is not allowed, or names something that does not exist ---

MALFORMED: Final = ProblemKind(400, "MALFORMED", "The request cannot be read")
HOST_NOT_SERVED: Final = ProblemKind(400, "HOST_NOT_SERVED", "This host name is not served")
NOT_AUTHENTICATED: Final = ProblemKind(401, "NOT_AUTHENTICATED", "Sign in, or send a token")
FORBIDDEN: Final = ProblemKind(403, "FORBIDDEN", "Not allowed")
CSRF_FAILED: Final = ProblemKind(403, "CSRF_FAILED", "The CSRF token is missing or wrong")
NOT_FOUND: Final = ProblemKind(404, "NOT_FOUND", "Not found")
CLUSTER_NOT_FOUND: Final = ProblemKind(404, "CLUSTER_NOT_FOUND", "No such cluster")
TOPIC_NOT_FOUND: Final = ProblemKind(404, "TOPIC_NOT_FOUND", "No such topic")
GROUP_NOT_FOUND: Final = ProblemKind(404, "GROUP_NOT_FOUND", "No such consumer group")
TRANSACTION_NOT_FOUND: Final = ProblemKind(404, "TRANSACTION_NOT_FOUND", "No such transaction")
METHOD_NOT_ALLOWED: Final = ProblemKind(405, "METHOD_NOT_ALLOWED", "This path does not support the method")
NOT_ACCEPTABLE: Final = ProblemKind(406, "NOT_ACCEPTABLE", "The client accepts none of the available content types")
UPGRADE_REQUIRED: Final = ProblemKind(426, "UPGRADE_REQUIRED", "This path is a WebSocket")
REQUEST_TIMEOUT: Final = ProblemKind(408, "REQUEST_TIMEOUT", "The request did not arrive in time", True)
CONFLICT: Final = ProblemKind(409, "CONFLICT", "The request conflicts with the current state")
ALREADY_EXISTS: Final = ProblemKind(409, "ALREADY_EXISTS", "Already exists")
TOPIC_READ_ONLY: Final = ProblemKind(409, "TOPIC_READ_ONLY", "The topic is read-only")
TOPIC_PAUSED: Final = ProblemKind(409, "TOPIC_PAUSED", "The delivery of the topic is paused")
GROUP_PAUSED: Final = ProblemKind(409, "GROUP_PAUSED", "The delivery to the group is paused")
NOT_PERMITTED_BY_BROKER: Final = ProblemKind(
    409, "NOT_PERMITTED_BY_BROKER", "The topic, group or broker does not allow this"
)
GROUP_OFFLINE: Final = ProblemKind(409, "GROUP_OFFLINE", "No client of the group is connected", True)
ACCESS_CONTROL_OFF: Final = ProblemKind(409, "ACCESS_CONTROL_OFF", "The brokers have access control off")
OWN_ACCOUNT: Final = ProblemKind(409, "OWN_ACCOUNT", "Gantry itself needs this account")
RECEIPT_EXPIRED: Final = ProblemKind(409, "RECEIPT_EXPIRED", "The receipt has expired")
TRANSACTION_DECIDED: Final = ProblemKind(409, "TRANSACTION_DECIDED", "The transaction ended otherwise before")
PLAN_EXPIRED: Final = ProblemKind(409, "PLAN_EXPIRED", "The preview is too old")
IN_PROGRESS: Final = ProblemKind(409, "IN_PROGRESS", "The first request with this key is still running", True, 1)
CURSOR_GONE: Final = ProblemKind(410, "CURSOR_GONE", "The cursor does not belong to this query")
OFFSET_GONE: Final = ProblemKind(410, "OFFSET_GONE", "The offset is no longer stored")
RANGE_NOT_SATISFIABLE: Final = ProblemKind(416, "RANGE_NOT_SATISFIABLE", "The range lies behind the end of the body")
JOB_QUEUE_FULL: Final = ProblemKind(409, "JOB_QUEUE_FULL", "Too many jobs wait")
FILES_GONE: Final = ProblemKind(410, "FILES_GONE", "The files of the job were removed")
BODY_TOO_LARGE: Final = ProblemKind(413, "BODY_TOO_LARGE", "The request body is too large")
MESSAGE_TOO_LARGE: Final = ProblemKind(413, "MESSAGE_TOO_LARGE", "The message is larger than brokers accept")
UNSUPPORTED_MEDIA_TYPE: Final = ProblemKind(415, "UNSUPPORTED_MEDIA_TYPE", "The content type is not supported")

# --- 422: the request was understood and is refused ---

INVALID: Final = ProblemKind(422, "INVALID", "The request is not valid")
INVALID_RECEIPT: Final = ProblemKind(422, "INVALID_RECEIPT", "Not a receipt of this gateway")
MESSAGE_ILLEGAL: Final = ProblemKind(422, "MESSAGE_ILLEGAL", "No broker would accept this message")
ACCOUNT_REFUSED: Final = ProblemKind(422, "ACCOUNT_REFUSED", "The broker does not accept this account")
FILTER_REFUSED: Final = ProblemKind(422, "FILTER_REFUSED", "The filter or subscription was refused")
DELAY_NOT_SERVED: Final = ProblemKind(422, "DELAY_NOT_SERVED", "Delivery at this time is not supported")
TRANSACTIONS_NOT_SERVED: Final = ProblemKind(
    422, "TRANSACTIONS_NOT_SERVED", "The broker accepts no transactional messages"
)
ATOMIC_NOT_POSSIBLE: Final = ProblemKind(422, "ATOMIC_NOT_POSSIBLE", "These messages cannot be stored atomically")
IDEMPOTENCY_MISMATCH: Final = ProblemKind(
    422, "IDEMPOTENCY_MISMATCH", "The idempotency key was used for another request"
)
NO_EFFECT: Final = ProblemKind(422, "NO_EFFECT", "The request would change nothing")
NOT_SERVED_BY_BROKER: Final = ProblemKind(422, "NOT_SERVED_BY_BROKER", "The broker does not support this request")

# --- 412, 428, 429: conditions and rates ---

PRECONDITION_FAILED: Final = ProblemKind(412, "PRECONDITION_FAILED", "The resource has changed since it was read")
PRECONDITION_REQUIRED: Final = ProblemKind(428, "PRECONDITION_REQUIRED", "If-Match is required")
RATE_LIMITED: Final = ProblemKind(429, "RATE_LIMITED", "Too many requests", True, 1)
TOO_MANY_IN_FLIGHT: Final = ProblemKind(429, "TOO_MANY_IN_FLIGHT", "Too many messages are on lease", True, 1)
TOO_MANY_CONNECTIONS: Final = ProblemKind(429, "TOO_MANY_CONNECTIONS", "Too many connections are open", True, 5)

# --- 5xx: failures of the gateway or of a broker ---

INTERNAL: Final = ProblemKind(500, "INTERNAL", "Internal error of the gateway")
BROKER_REFUSED: Final = ProblemKind(502, "BROKER_REFUSED", "The broker refused the request")
BROKER_UNREACHABLE: Final = ProblemKind(503, "BROKER_UNREACHABLE", "The broker cannot be reached", True, 2)
BROKER_BUSY: Final = ProblemKind(503, "BROKER_BUSY", "The broker is busy", True, 1)
BROKER_CANNOT_STORE: Final = ProblemKind(503, "BROKER_CANNOT_STORE", "The broker cannot store messages now", True, 5)
NO_ROUTE: Final = ProblemKind(503, "NO_ROUTE", "No broker of the topic can be reached", True, 2)
REDIS_UNREACHABLE: Final = ProblemKind(503, "REDIS_UNREACHABLE", "Redis cannot be reached", True, 2)
DRAINING: Final = ProblemKind(503, "DRAINING", "The gateway is shutting down", True, 2)
SEND_UNCERTAIN: Final = ProblemKind(
    504, "SEND_UNCERTAIN", "Sent, but not confirmed: unknown whether it was stored", True
)
STORED_NOT_FLUSHED: Final = ProblemKind(
    504, "STORED_NOT_FLUSHED", "Stored, but the flush or the replica is not confirmed"
)
TIMED_OUT: Final = ProblemKind(504, "TIMED_OUT", "The broker did not answer", True, 1)

PROBLEMS: Final[dict[type[BaseException], ProblemKind]] = {
    ClusterNotFound: CLUSTER_NOT_FOUND,
    ClusterSilent: TIMED_OUT,
    ClusterUnknown: BROKER_UNREACHABLE,
    client.TopicNotFound: TOPIC_NOT_FOUND,
    client.NoRoute: NO_ROUTE,
    client.NoMaster: BROKER_UNREACHABLE,
    NoBrokerListed: BROKER_UNREACHABLE,
    client.TopicReadOnly: TOPIC_READ_ONLY,
    client.TopicPaused: TOPIC_PAUSED,
    client.MessageTooLarge: MESSAGE_TOO_LARGE,
    client.MessageRefused: MESSAGE_ILLEGAL,
    client.MessageIllegal: MESSAGE_ILLEGAL,
    client.ParameterIllegal: INVALID,
    NameIllegal: INVALID,
    MalformedProperties: MESSAGE_ILLEGAL,
    client.SendUncertain: SEND_UNCERTAIN,
    client.LeaseExpired: RECEIPT_EXPIRED,
    client.MembersConnected: CONFLICT,
    client.MalformedAnswer: BROKER_REFUSED,
    client.Unreachable: BROKER_UNREACHABLE,
    client.TimedOut: TIMED_OUT,
    client.ClientClosed: DRAINING,
    client.BrokerRefused: BROKER_REFUSED,
    client.NotConfirmed: TIMED_OUT,
    client.BrokerBusy: BROKER_BUSY,
    client.BrokerUnavailable: BROKER_CANNOT_STORE,
    client.NoPermission: NOT_PERMITTED_BY_BROKER,
    client.GroupPaused: GROUP_PAUSED,
    client.GroupNotFound: GROUP_NOT_FOUND,
    client.GroupOffline: GROUP_OFFLINE,
    client.AccountRefused: ACCOUNT_REFUSED,
    client.SubscriptionRefused: FILTER_REFUSED,
    client.NotSupported: NOT_SERVED_BY_BROKER,
    client.TransactionUnknown: TRANSACTION_NOT_FOUND,
    client.TransactionDecided: TRANSACTION_DECIDED,
}


_IN_WORDS: Final = (
    client.Unreachable,
    client.TimedOut,
    client.MalformedAnswer,
    client.NotConfirmed,
    client.MessageIllegal,
    client.ParameterIllegal,
    client.SubscriptionRefused,
    client.NotSupported,
    client.AccessDenied,
    client.AccountRefused,
    ClusterSilent,
)
_IF_NAMED: Final = (client.BrokerBusy, client.BrokerUnavailable)


def find_problem(error: BaseException) -> ProblemError | None:
    """Return the problem for `error`, or None if the table has neither its type nor a base class of it."""
    if isinstance(error, ProblemError):
        return error
    for ancestor in type(error).__mro__:
        kind = PROBLEMS.get(ancestor)
        if kind is not None:
            if kind is BROKER_UNREACHABLE and is_uncertain(error):
                kind = TIMED_OUT
            elif kind is MESSAGE_ILLEGAL and is_too_far(error):
                kind = DELAY_NOT_SERVED
            lacking = lacking_of(error)
            return ProblemError(kind, _detail_of(error), extra=None if lacking is None else {"capability": lacking})
    return None


def is_uncertain(error: BaseException) -> bool:
    """Return whether a broker may have carried out what failed: it was not answered, or did not stay for sure."""
    if isinstance(error, client.NotConfirmed):
        return True
    return isinstance(error, client.Unreachable) and error.was_sent and not error.of_name_server


def _detail_of(error: BaseException) -> str:
    """Return the text of an error; of a silent broker, of a refused account and group without its code."""
    if isinstance(error, client.GroupNotFound):
        reason = error.remark or "there is no such consumer group"
    elif isinstance(error, client.GroupPaused):
        reason = f"the delivery to group {error.group!r} is paused (consume_enabled is false)"
    elif isinstance(error, _IN_WORDS) or (isinstance(error, _IF_NAMED) and error.broker_name is not None):
        reason = reason_of(error)
    else:
        return str(error)
    name = error.broker_name if isinstance(error, client.ClientError) else None
    # A name is not written with a capital of ours.
    return f"{reason}." if name and reason.startswith(name) else f"{reason[:1].upper()}{reason[1:]}."


def internal(request_id: str, *, is_uncertain: bool = False) -> ProblemError:
    """Return the problem for an unexpected error; the log has the traceback under the same request id.

    `is_uncertain` says that what was asked for may be done all the same.
    """
    detail = f"The gateway failed; its log has the details under request {request_id}."
    if not is_uncertain:
        return ProblemError(INTERNAL, detail)
    detail += " It is unknown whether a broker did what was asked for."
    return ProblemError(INTERNAL, detail, may_be_done=True)


def respond(problem: ProblemError, *, instance: str, request_id: str) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
    """Return status, headers and body of the answer to an ASGI request at path `instance`."""
    body = orjson.dumps(problem.document(instance=instance, request_id=request_id))
    headers = [(b"content-type", CONTENT_TYPE.encode()), (b"content-length", b"%d" % len(body)), *problem.headers]
    if problem.retry_after_s is not None:
        headers.append((b"retry-after", b"%d" % problem.retry_after_s))
    if problem.kind is NOT_AUTHENTICATED:
        headers.append((b"www-authenticate", b'Bearer realm="gantry"'))
    return problem.kind.status, headers, body
