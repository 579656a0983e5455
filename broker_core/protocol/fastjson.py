"""The JSON dialect of Java peers (protocol/README.md#json-dialect).

Their library, fastjson, writes keys that are not strings without quotes::

    {0:"10.0.0.5:10911"}                                              an integer
    {{"brokerName":"b","queueId":0,"topic":"t"}:5}                    an object

and reads much that is not JSON: unquoted keys, single quotes, trailing commas. The tree of such a text consists of
dict, list, str, int, float, bool and None; a key is a `str`, or an `ObjectKey` where the text has an object. In a tree
to be written, a key may also be an `int`.

An object that occurs twice in a text is written once and then as ``{"$ref":"$.a.b[0]"}``; `loads` replaces the
reference with the object.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeAlias, cast

import orjson

from broker_core.protocol.errors import LooseJsonTooLong, MalformedBody

ObjectKey: TypeAlias = tuple[tuple[str, str | int | float | bool | None], ...]
"""An object as a key: its names and values, sorted by name."""

MAX_DEPTH: Final = 64  # levels; no body of the protocol has more than six
MAX_REFERRED: Final = 100_000  # the limit on nodes that all references of one text expand to


def loads(data: bytes, loose_bytes: int | None = None) -> Any:
    """Return the tree of a text in the dialect, or in strict JSON; raises MalformedBody.

    Strict JSON is read in compiled code. All else, references too, takes a hundred times as long: with `loose_bytes`,
    a longer text that needs it raises LooseJsonTooLong.
    """
    tree = _strict(data)
    is_strict = tree is not _NOT_STRICT
    has_references = b'$ref"' in data or b"$ref'" in data
    if is_strict and not has_references:
        return tree
    if loose_bytes is not None and len(data) > loose_bytes:
        raise LooseJsonTooLong(len(data), loose_bytes)
    if not is_strict:
        tree = _Reader(data.decode("utf-8", "replace")).read()
    return _resolve(tree) if has_references else tree


def _strict(data: bytes) -> Any:
    """Return the tree of strict JSON, whose text may be in another encoding; _NOT_STRICT for all else."""
    with suppress(orjson.JSONDecodeError):
        return orjson.loads(data)
    text = data.decode("utf-8", "replace")
    if _REPLACED in text:  # clients in C++ send the bytes of their users as they are
        with suppress(orjson.JSONDecodeError):
            return orjson.loads(text)
    return _NOT_STRICT


_NOT_STRICT: Final = object()
_REPLACED: Final = "\ufffd"


def dumps(tree: Any) -> bytes:
    """Return the text of a tree in the dialect: integers and objects as keys are unquoted."""
    return _write(tree, _bare_key)


def dumps_strict(tree: Any) -> bytes:
    """Return the text of a tree as strict JSON: integers and objects as keys become strings."""
    return _write(tree, _quoted_key)


def object_key(tree: dict[str, Any]) -> ObjectKey:
    """Return a flat object as a key."""
    return tuple(sorted(tree.items()))


def _write(tree: Any, write_key: Callable[[str | int | ObjectKey], bytes]) -> bytes:
    try:
        return orjson.dumps(tree)  # the usual case: every key is a string
    except TypeError as error:
        if isinstance(tree, dict):
            pairs = [write_key(key) + b":" + _write(value, write_key) for key, value in tree.items()]
            return b"{" + b",".join(pairs) + b"}"
        if isinstance(tree, list):
            return b"[" + b",".join([_write(each, write_key) for each in tree]) + b"]"
        raise MalformedBody(f"a body cannot be written: {error}") from None


def _bare_key(key: str | int | ObjectKey) -> bytes:
    return orjson.dumps(dict(key)) if isinstance(key, tuple) else orjson.dumps(key)


def _quoted_key(key: str | int | ObjectKey) -> bytes:
    return orjson.dumps(key if isinstance(key, str) else _bare_key(key).decode())


_SPACE: Final = re.compile(r"[\s,]*")  # fastjson accepts any number of commas between members
_BLANK: Final = re.compile(r"\s*")
_WORD: Final = re.compile(r"[^\s,:{}\[\]\"']+")
_WORDS: Final = re.compile(r"[^:{}\[\]\"']*")
_STRING: Final = {
    '"': re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL),
    "'": re.compile(r"'([^'\\]*(?:\\.[^'\\]*)*)'", re.DOTALL),
}
_BEGINS: Final = frozenset("[{\"'")
_PLAIN: Final = r"""(?:"([^"\\]*)"|'([^'\\]*)'|([^\s,:{}\[\]"']+))"""
_MEMBER: Final = re.compile(rf"[\s,]*{_PLAIN}\s*:\s*{_PLAIN}")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_INTEGER: Final = re.compile(r"[+-]?\d{1,19}")
_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")


class _Values(dict[str, Any]):
    """The values of the unquoted words of one text; most texts repeat theirs."""

    def __init__(self) -> None:
        super().__init__({"true": True, "false": False, "null": None})

    def __missing__(self, word: str) -> int | float:
        value = self[word] = _number(word)
        return value


def _number(word: str) -> int | float:
    if _INTEGER.fullmatch(word):
        return int(word)
    if _NUMBER.fullmatch(word) and math.isfinite(number := float(word)):
        return number
    raise MalformedBody(f"{word[:40]!r} is not a value")


class _Reader:
    """Parses the dialect; recursive to at most MAX_DEPTH levels, and linear in the length of the text.

    Servers read texts of strangers with it: what is frequent, members and items without a structure of their own, is
    left to one regular expression each.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._values = _Values()

    def read(self) -> Any:
        tree = self._value(0)
        self._next(_BLANK)
        if self._at < len(self._text):
            raise self._error("trailing text after the value")
        return tree

    def _value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise self._error(f"more than {MAX_DEPTH} levels")
        match self._next(_BLANK):
            case "{":
                return self._object(depth)
            case "[":
                return self._array(depth)
            case '"' | "'":
                return self._string()
        return self._values[self._word()]

    def _object(self, depth: int) -> dict[Any, Any]:
        self._at += 1
        members: dict[Any, Any] = {}
        while (first := self._next(_SPACE)) != "}":
            if first != "{" and depth < MAX_DEPTH and self._plain_members(members):
                continue
            key = self._key(first, depth)
            if self._next(_BLANK) != ":":
                raise self._error("a key without a colon")
            self._at += 1
            members[key] = self._value(depth + 1)
        self._at += 1
        return members

    def _plain_members(self, members: dict[Any, Any]) -> bool:
        """Take the members from here on whose keys and values are words, or strings without escapes."""
        text, values, match, start = self._text, self._values, _MEMBER.match, self._at
        while member := match(text, self._at):
            double, single, word, double_value, single_value, value = member.groups()
            key = word if word is not None else double if double is not None else single
            if value is not None:
                members[key] = values[value]
            else:
                members[key] = double_value if double_value is not None else single_value
            self._at = member.end()
        return self._at > start

    def _array(self, depth: int) -> list[Any]:
        self._at += 1
        items: list[Any] = []
        while (first := self._next(_SPACE)) != "]":
            if first in _BEGINS:
                items.append(self._value(depth + 1))
            elif first and first not in ":}":
                self._plain_items(items, depth)
            else:
                raise self._error("a value or a key is missing")
        self._at += 1
        return items

    def _plain_items(self, items: list[Any], depth: int) -> None:
        """Take the items from here on that are words."""
        run = cast(re.Match[str], _WORDS.match(self._text, self._at))
        words = run.group().replace(",", " ").split()
        if words and depth == MAX_DEPTH:
            raise self._error(f"more than {MAX_DEPTH} levels")
        items.extend(map(self._values.__getitem__, words))
        self._at = run.end()

    def _key(self, first: str, depth: int) -> str | ObjectKey:
        if first == "{":
            return self._object_key(depth + 1)
        return self._string() if first in _STRING else self._word()

    def _object_key(self, depth: int) -> ObjectKey:
        members = self._value(depth)
        if any(isinstance(value, dict | list) for value in members.values()):
            raise self._error("an object used as a key contains another object")
        return object_key({str(name): value for name, value in members.items()})

    def _word(self) -> str:
        match = _WORD.match(self._text, self._at)
        if match is None:
            raise self._error("a value or a key is missing")
        self._at = match.end()
        return match.group()

    def _string(self) -> str:
        match = _STRING[self._text[self._at]].match(self._text, self._at)
        if match is None:
            raise self._error("a string without an end")
        self._at = match.end()
        text = match.group(1)
        return _unescape(text) if "\\" in text else text

    def _next(self, skipped: re.Pattern[str]) -> str:
        """Return the next character, not taken yet, after what may be skipped; empty at the end."""
        first = self._text[self._at : self._at + 1]
        if first == "," or first.isspace():
            self._at = cast(re.Match[str], skipped.match(self._text, self._at)).end()
            return self._text[self._at : self._at + 1]
        return first

    def _error(self, what: str) -> MalformedBody:
        return MalformedBody(f"at character {self._at} of {len(self._text)}: {what}")


def _unescape(text: str) -> str:
    def replace(match: re.Match[str]) -> str:
        hexadecimal, letter = match.groups()
        return chr(int(hexadecimal, 16)) if hexadecimal else _ESCAPES.get(letter, letter)

    joined = _ESCAPE.sub(replace, text)
    # \\u escapes are UTF-16 units: join surrogate pairs; half a pair is not a character
    return joined.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\d{1,9})\]")


def _resolve(root: Any) -> Any:
    """Return the tree with references replaced by their targets; references without a target stay."""
    budget = MAX_REFERRED

    def walk(node: Any, depth: int) -> Any:
        nonlocal budget
        if depth > MAX_DEPTH:
            raise MalformedBody(f"more than {MAX_DEPTH} levels")
        if isinstance(node, list):
            return [walk(each, depth + 1) for each in node]
        if not isinstance(node, dict):
            return node
        path = node.get("$ref")
        if len(node) == 1 and isinstance(path, str):
            target = _find(root, path)
            budget -= _count(target, budget)
            return node if target is None else target
        return {key: walk(value, depth + 1) for key, value in node.items()}

    return walk(root, 0)


def _find(root: Any, path: str) -> Any:
    """Return the node at a path like ``$.a.b[0]``, or None."""
    node = root
    at = 1
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None:
            return None
        name, index = step.groups()
        at = step.end()
        if name is not None and isinstance(node, dict):
            node = node.get(name)
        elif index is not None and isinstance(node, list) and int(index) < len(node):
            node = node[int(index)]
        else:
            return None
    return None if node is root else node


def _count(tree: Any, budget: int) -> int:
    """Return the number of nodes of a tree; raises MalformedBody beyond `budget`."""
    count = 0
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        count += 1
        if count > budget:
            raise MalformedBody(f"references expand to more than {MAX_REFERRED} nodes")
        waiting.extend(node.values() if isinstance(node, dict) else node if isinstance(node, list) else ())
    return count
