"""Signatures of requests with an access key (protocol/README.md#signatures).

A signature covers the values of a request's fields, in the order of their names, and its body; not its code. Peers
differ in one field of QUERY_MESSAGE, so signatures with and without it are valid.
"""

from __future__ import annotations

import hmac
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from broker_core.protocol.command import Command

ACCESS_KEY: Final = "AccessKey"
SIGNATURE: Final = "Signature"
SECURITY_TOKEN: Final = "SecurityToken"  # noqa: S105 - the name of a field
_AMBIGUOUS: Final = "_UNIQUE_KEY_QUERY"  # signed by clients from 4.9.4 on, left out by 4.9.x brokers

SHORTEST_KEY: Final = 7
"""The length that the key and the secret of an account have at least."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """An account and its secret; services that hand out accounts for a while add a token, which is signed too."""

    access_key: str
    secret_key: str = field(repr=False)
    security_token: str | None = field(default=None, repr=False)

    def sign(self, request: Command) -> Command:
        """Add the account and the signature to a request's fields; returns the same request."""
        fields = request.ext_fields
        fields[ACCESS_KEY] = self.access_key
        if self.security_token is not None:
            fields[SECURITY_TOKEN] = self.security_token
        fields[SIGNATURE] = _signature(fields, request.body, self.secret_key)
        return request


def is_signed_with(request: Command, secret_key: str) -> bool:
    """Return whether a request was signed with this secret."""
    fields = request.ext_fields
    given = fields.get(SIGNATURE, "").encode("utf-8", "replace")
    if hmac.compare_digest(given, _signature(fields, request.body, secret_key).encode()):
        return True
    if _AMBIGUOUS not in fields:
        return False
    without = {name: value for name, value in fields.items() if name != _AMBIGUOUS}
    return hmac.compare_digest(given, _signature(without, request.body, secret_key).encode())


def _signature(fields: Mapping[str, str], body: bytes, secret_key: str) -> str:
    names = [name for name in fields if name != SIGNATURE]
    # Java sorts by UTF-16 units. Those of ASCII, which is all that clients send, have the order of Python.
    names.sort(key=None if "".join(names).isascii() else _utf16)
    text = "".join([fields[name] for name in names]).encode("utf-8", "replace")
    return b64encode(hmac.digest(secret_key.encode(), text + body, "sha1")).decode()


def _utf16(name: str) -> bytes:
    return name.encode("utf-16-be", "replace")
