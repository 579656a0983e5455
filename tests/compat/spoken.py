"""What a client said, in lines that two clients can be compared by: names, and values that no run changes.

::

    differences(lines_of(java, "java"), lines_of(ours, "ours"))     # {"- PULL_MESSAGE bname", "+ PULL_MESSAGE …"}
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, Final

import orjson

from broker_core.protocol.batch import decode_batch
from broker_core.protocol.codes import PULL_COMMIT_OFFSET, RequestCode
from broker_core.protocol.command import Command
from broker_core.protocol.properties import parse_properties

_SENDS: Final = (RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_BATCH_MESSAGE)
# Of these only the form is the same in every run: places, times, and the client's own ids.
_CHANGING: Final = frozenset(
    {"g", "subVersion", "queueOffset", "commitOffset", "offset", "clientID", "clientId", "originMsgId", "UNIQ_KEY"}
)
# Says that requests are of the stream type: all clients of a JVM do, once it has made a lite or an old pull consumer.
_STREAM_TYPE: Final = "ReqT"


def lines_of(commands: Iterable[Command], who: str) -> dict[str, set[str]]:
    """Return for each request, by its name, the lines that all such requests came to; `-who` is left out of names.

    A field that only some of them have is marked with a question mark. An unregistration is named by who leaves.
    """
    by_name: dict[str, list[set[str]]] = defaultdict(list)
    for command in commands:
        name = _name(command)
        by_name[name.replace(f"-{who}", "")].append({line.replace(f"-{who}", "") for line in _lines(command)})
    return {name: _joined(lines) for name, lines in by_name.items()}


def differences(java: dict[str, set[str]], ours: dict[str, set[str]]) -> set[str]:
    """Return what only one of them said, with a minus Java, with a plus we; and what only we asked for at all.

    What only Java asked for is left out: how much it looks around depends on the time that it has for it.
    """
    found = {f"+ {name}" for name in ours.keys() - java.keys()}
    for name in java.keys() & ours.keys():
        found |= {f"- {name} {line}" for line in java[name] - ours[name]}
        found |= {f"+ {name} {line}" for line in ours[name] - java[name]}
    return found


def _name(command: Command) -> str:
    name = RequestCode(command.code).name
    leaves = command.ext_fields.get("producerGroup") if command.code == RequestCode.UNREGISTER_CLIENT else None
    return f"{name}:{leaves}" if leaves else name


def _joined(requests: list[set[str]]) -> set[str]:
    everything = set().union(*requests)
    always = requests[0].intersection(*requests)
    return {line if line in always or not _is_field(line) else f"{line}?" for line in everything}


def _is_field(line: str) -> bool:
    return line.isidentifier()


def _lines(command: Command) -> Iterator[str]:
    """Tell the flags, each field's name, each field's value, and what the body holds."""
    yield f"one-way: {command.is_one_way}"
    yield f"version: {command.version}"
    yield f"serializer: {command.serializer}"
    fields = {name: value for name, value in command.ext_fields.items() if name != _STREAM_TYPE}
    yield from fields
    if command.code == RequestCode.PULL_MESSAGE:
        # Offsets are committed along as soon as there are some; when that is, is not the same in every run.
        flags, commits = int(fields.pop("sysFlag")), int(fields["commitOffset"]) > 0
        yield f"sysFlag = {flags & ~PULL_COMMIT_OFFSET}"
        yield f"commits if it may: {bool(flags & PULL_COMMIT_OFFSET) == commits}"
    if command.code in _SENDS:
        yield from _of_text(fields.pop("i"))
    for name, value in fields.items():
        yield _valued(name, value)
    if command.code == RequestCode.SEND_BATCH_MESSAGE:
        for entry in decode_batch(command.body):
            yield f"entry = {bytes(entry.body)!r} flag {entry.flag}"
            yield from (f"entry's {line}" for line in _of_text(entry.properties))
    elif command.body[:1] in (b"{", b"["):
        yield from _of_tree("body", orjson.loads(command.body))
    else:
        yield f"body = {command.body!r}"


def _of_text(text: str) -> Iterator[str]:
    for name, value in parse_properties(text).items():
        yield f"property {_valued(name, value)}"


def _of_tree(path: str, tree: Any) -> Iterator[str]:
    match tree:
        case dict():
            yield f"{path}: object"
            for name, value in tree.items():
                yield from _of_tree(f"{path}.{name}", value)
        case list():
            yield f"{path}: list"
            for value in tree:
                yield from _of_tree(f"{path}[]", value)
        case _:
            name = path.rpartition(".")[2]
            yield f"{path}: {type(tree).__name__}"
            yield path.removesuffix(name) + _valued(name, tree)


def _valued(name: str, value: object) -> str:
    if name not in _CHANGING:
        return f"{name} = {value}"
    return f"{name} = {'a number' if str(value).isdigit() else 'a text'}"
