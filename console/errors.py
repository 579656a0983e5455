"""Refusals of the console's own rooms, as DRF raises them: the edge turns status and code into a problem."""

from __future__ import annotations

from rest_framework.exceptions import APIException


class AlreadyExists(APIException):
    """A thing of this name is there already."""

    status_code = 409
    default_detail = "It exists already."
    default_code = "already_exists"


class NotKnown(APIException):
    """The console keeps nothing under this name."""

    status_code = 404
    default_detail = "Nothing is kept under this name."
    default_code = "not_found"


class Conflict(APIException):
    """The change does not fit the present state."""

    status_code = 409
    default_detail = "This is in conflict with the present state."
    default_code = "conflict"


class RedisUnreachable(APIException):
    """What was asked for is kept in Redis, which does not answer."""

    status_code = 503
    default_detail = "Redis cannot be reached."
    default_code = "redis_unreachable"


class PreconditionFailed(APIException):
    """The thing changed since the caller read it."""

    status_code = 412
    default_detail = "It changed since it was read; read it again."
    default_code = "precondition_failed"
