"""Request signing with plain access keys (protocol/README.md#signatures).

The signature covers the values of the header fields, sorted by name, and the body, but neither the names nor the code.
Peers differ in one field of QUERY_MESSAGE, so signatures with and without it are valid.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from typing import Final

from broker_core.protocol.command import Command

ACCESS_KEY: Final = "AccessKey"
SIGNATURE: Final = "Signature"
SECURITY_TOKEN: Final = "SecurityToken"  # noqa: S105 - the name of a field

_AMBIGUOUS: Final = "_UNIQUE_KEY_QUERY"  # signed by clients from 4.9.4 on, left out by 4.9.x brokers


def sign(command: Command, access_key: str, secret_key: str) -> Command:
    """Add the access key and the signature to a request's fields; returns the same command."""
    command.ext_fields[ACCESS_KEY] = access_key
    command.ext_fields[SIGNATURE] = _signature(command.ext_fields, command.body, secret_key)
    return command


def is_signed_with(command: Command, secret_key: str) -> bool:
    """Return whether a request was signed with this key."""
    given = command.ext_fields.get(SIGNATURE, "").encode("utf-8", "replace")
    fields = command.ext_fields
    without = {name: value for name, value in fields.items() if name != _AMBIGUOUS}
    wanted = (_signature(each, command.body, secret_key).encode() for each in (fields, without))
    return any(hmac.compare_digest(given, each) for each in wanted)


def _signature(fields: Mapping[str, str], body: bytes, secret_key: str) -> str:
    # Java sorts by UTF-16 units; bytes of UTF-16-BE have the same order.
    names = sorted((name for name in fields if name != SIGNATURE), key=lambda name: name.encode("utf-16-be", "replace"))
    content = "".join([fields[name] for name in names]).encode("utf-8", "replace") + body
    digest = hmac.new(secret_key.encode(), content, hashlib.sha1).digest()
    return base64.b64encode(digest).decode()
