"""The console's exceptions for DRF; the gateway turns their status and code into a problem document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rest_framework.exceptions import APIException

from console.idempotency import MISMATCH, RUNNING


class AlreadyExists(APIException):
    """Something with this name already exists."""

    status_code = 409
    default_detail = "It already exists."
    default_code = "already_exists"


class NotKnown(APIException):
    """The console has nothing with this name."""

    status_code = 404
    default_detail = "Nothing has this name."
    default_code = "not_found"


class Conflict(APIException):
    """The change does not fit the current state."""

    status_code = 409
    default_detail = "The request conflicts with the current state."
    default_code = "conflict"


class PlanExpired(Conflict):
    """The preview that the change names is too old."""

    default_detail = "The preview is too old; preview the change again."
    default_code = "plan_expired"


class BrokersSilent(APIException):
    """The request needs answers of brokers that do not come; the detail names the brokers."""

    status_code = 503
    default_detail = "A broker does not answer."
    default_code = "broker_unreachable"


class RedisUnreachable(APIException):
    """The request needs Redis, which does not answer."""

    status_code = 503
    default_detail = "Redis cannot be reached."
    default_code = "redis_unreachable"


class PreconditionFailed(APIException):
    """The resource has changed since the caller read it."""

    status_code = 412
    default_detail = "The resource has changed since it was read; read it again."
    default_code = "precondition_failed"


class PreconditionRequired(APIException):
    """The change does not say which configuration it is based on."""

    status_code = 428
    default_detail = "Read the resource first and send the ETag of the answer as If-Match, or * for any version."
    default_code = "precondition_required"


class IdempotencyMismatch(APIException):
    """The Idempotency-Key was used for another request."""

    status_code = 422
    default_detail = MISMATCH
    default_code = "idempotency_mismatch"


class InProgress(APIException):
    """The first request with this Idempotency-Key is still running."""

    status_code = 409
    default_detail = RUNNING
    default_code = "in_progress"


@dataclass(frozen=True, slots=True)
class Fault:
    """One error in a request: ``#/field`` in its body, ``?name`` in its query, or the name of a header."""

    pointer: str
    code: str
    detail: str


class NotServed(APIException):
    """The request contains fields or parameters that are not supported; each one is listed."""

    status_code = 422
    default_code = "invalid"

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__(faults[0].detail)
        self.faults = tuple(faults)
