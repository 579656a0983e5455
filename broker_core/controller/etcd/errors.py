"""How a call of etcd fails (controller/README.md#unknown-outcomes).

::

    EtcdError
     ├─ NotSent      no connection; etcd knows nothing of it
     ├─ Unanswered   whether etcd did it, or will do it, is unknown
     └─ Declined     etcd answered with an error; it will not do it later
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, Final

from broker_core.errors import GantryError


class Code(IntEnum):
    """Those of gRPC that are told apart here."""

    INVALID = 3
    NOT_FOUND = 5
    DENIED = 7
    EXHAUSTED = 8
    PRECONDITION = 9
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    UNAUTHENTICATED = 16


_FINAL: Final = frozenset(Code)
_OF_STATUS: Final = {400: Code.INVALID, 401: Code.UNAUTHENTICATED, 403: Code.DENIED, 404: Code.UNIMPLEMENTED}
_OLD_LOGIN: Final = "revision of auth store is old"
_SHOWN: Final = 200


class EtcdError(GantryError):
    """A call of etcd failed."""


class NotSent(EtcdError):
    """No connection to a member; etcd knows nothing of the call."""


class Unanswered(EtcdError):
    """Whether etcd did it, or will do it later, is unknown."""


class Declined(EtcdError):
    """Etcd answered with an error, and will not do it later.

    With `Code.EXHAUSTED` it may have done it before it answered so.
    """

    def __init__(self, message: str, code: Code) -> None:
        super().__init__(message)
        self.code = code

    @property
    def wants_login(self) -> bool:
        """Whether to authenticate again and repeat the call."""
        return self.code is Code.UNAUTHENTICATED or (self.code is Code.INVALID and _OLD_LOGIN in str(self))


def error_of(endpoint: str, status: int, body: Mapping[str, Any] | None, text: str) -> EtcdError:
    """Return the error of an answer that is none of success; `body` is None for one that is not JSON."""
    code, message = _code_and_message(status, body, text)
    told = f"{endpoint}: {message}"
    return Declined(told, Code(code)) if code in _FINAL else Unanswered(told)


def _code_and_message(status: int, body: Mapping[str, Any] | None, text: str) -> tuple[int, str]:
    nested = body.get("error") if body is not None else None
    if isinstance(nested, Mapping):
        return int(nested.get("grpc_code", 0)), str(nested.get("message", nested))
    if body is not None and "code" in body:
        return int(body["code"]), str(body.get("message") or nested)
    # Not the engine but what stands before it: it says what it means by HTTP alone.
    return _OF_STATUS.get(status, 0), f"HTTP {status}: {' '.join(text.split())[:_SHOWN]}"
