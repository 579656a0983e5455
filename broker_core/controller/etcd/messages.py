"""What etcd's JSON gateway is asked and answers (controller/README.md#decisions-in-etcd): texts only, no I/O.

It leaves out what is false, 0 or empty, writes 64-bit numbers as texts, and keys and values in base64.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

RANGE: Final = "/v3/kv/range"
TXN: Final = "/v3/kv/txn"
GRANT: Final = "/v3/lease/grant"
KEEP_ALIVE: Final = "/v3/lease/keepalive"
REVOKE: Final = "/v3/lease/revoke"
WATCH: Final = "/v3/watch"
AUTHENTICATE: Final = "/v3/auth/authenticate"
STATUS: Final = "/v3/maintenance/status"
ALARM: Final = "/v3/maintenance/alarm"

# How strange bytes under our keys survive: they are compared, and shown, as they are.
_ODD: Final = "surrogateescape"

Json: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Mark:
    """What etcd tells one writing of a key by; after a restore the same numbers come again."""

    modified: int
    created: int


@dataclass(frozen=True, slots=True)
class KeyValue:
    """A key with its text."""

    key: str
    text: str
    mark: Mark
    lease: int


def packed(text: str) -> str:
    """Return a key or value as the gateway takes it."""
    return b64encode(text.encode(errors=_ODD)).decode()


def unpacked(text: str) -> str:
    """Return a key or value; raises ValueError for what is no base64."""
    return b64decode(text, validate=True).decode(errors=_ODD)


def number(answer: Json, name: str) -> int:
    """Return a number that is left out when it is 0."""
    return int(answer.get(name, 0))


def revision_of(answer: Json) -> int:
    """Return the revision of the whole engine that an answer bears."""
    return number(answer.get("header", {}), "revision")


def cluster_of(answer: Json) -> int:
    """Return the id of the cluster that answered."""
    return number(answer.get("header", {}), "cluster_id")


def key_value(pair: Json) -> KeyValue:
    """Return one key of an answer."""
    return KeyValue(
        key=unpacked(pair["key"]),
        text=unpacked(pair.get("value", "")),
        mark=Mark(number(pair, "mod_revision"), number(pair, "create_revision")),
        lease=number(pair, "lease"),
    )


def key_values(answer: Json) -> list[KeyValue]:
    """Return the keys of a range's answer."""
    return [key_value(pair) for pair in answer.get("kvs", ())]


def end_of(prefix: str) -> str:
    """Return the first key behind all that begin with a prefix, packed."""
    raw = bytearray(prefix.encode(errors=_ODD))
    raw[-1] += 1  # our prefixes end with a slash
    return b64encode(raw).decode()


def one_key(key: str) -> Json:
    """Ask for one key, linearizable."""
    return {"key": packed(key)}


def all_keys(prefix: str, changed_since: int = 0) -> Json:
    """Ask for the keys that begin with a prefix, those with a revision of at least this; `count` is that of all."""
    asked: dict[str, Any] = {"key": packed(prefix), "range_end": end_of(prefix)}
    return asked | ({"min_mod_revision": str(changed_since)} if changed_since else {})


def compare_revision(key: str, modified: int) -> Json:
    """A condition: when the key was last written; 0 is never."""
    return {"key": packed(key), "target": "MOD", "result": "EQUAL", "mod_revision": str(modified)}


def compare_created(key: str, created: int) -> Json:
    """A condition: when the key came to be; 0 is never."""
    return {"key": packed(key), "target": "CREATE", "result": "EQUAL", "create_revision": str(created)}


def compare_text(key: str, text: str) -> Json:
    """A condition: what is there, byte for byte."""
    return {"key": packed(key), "target": "VALUE", "result": "EQUAL", "value": packed(text)}


def put(key: str, text: str, lease: int = 0) -> Json:
    """Write a key, which is removed when the lease ends if there is one."""
    asked = {"key": packed(key), "value": packed(text)}
    return {"request_put": asked | ({"lease": str(lease)} if lease else {})}


def get(key: str) -> Json:
    """Read a key within a transaction."""
    return {"request_range": one_key(key)}


def transaction(conditions: list[Json], then: list[Json], otherwise: list[Json]) -> Json:
    """If all conditions hold do the one, else the other."""
    return {"compare": conditions, "success": then, "failure": otherwise}


def ranges_of(answer: Json) -> list[KeyValue | None]:
    """Return what each `get` of a transaction found."""
    found = [response["response_range"] for response in answer.get("responses", ()) if "response_range" in response]
    return [next(iter(key_values(each)), None) for each in found]


def watch(prefix: str, start: int) -> Json:
    """Ask to be told of each change of the keys that begin with a prefix, from a revision on."""
    asked = {"key": packed(prefix), "range_end": end_of(prefix), "start_revision": str(start)}
    return {"create_request": asked}
