"""The text of an account file, ``plain_acl.yml``: YAML as Apache RocketMQ's, read strictly.

::

    globalWhiteRemoteAddresses: [10.10.15.*]
    accounts:
    - accessKey: orders-service
      secretKey: at-least-seven-characters
      whiteRemoteAddress: ''
      admin: false
      defaultTopicPerm: DENY
      defaultGroupPerm: SUB
      topicPerms: [orders=PUB|SUB]
      groupPerms: [billing=SUB]
    dataVersion:
    - {counter: 1, timestamp: 1700000000000}

What Apache skips in silence is an error here, with its line: an unknown or repeated name, a right that is none, an
account that is there twice. Every value is taken as it is written, so a key of digits stays what it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, cast

import yaml

from broker_core.broker.access.accounts import Account
from broker_core.protocol.addresses import AddressPattern
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.access import PlainAccessConfig
from broker_core.protocol.bodies.topics import DataVersion

T = TypeVar("T")

MAX_BYTES: Final = 4 * 1024 * 1024
_DEEPEST: Final = 8
_EMPTY: Final = frozenset({"", "~", "null", "Null", "NULL"})
_SWITCH: Final = {"true": True, "false": False}
_GLOBAL: Final = "globalWhiteRemoteAddresses"
_ACCOUNTS: Final = "accounts"
_VERSION: Final = "dataVersion"


class BadAccessText(ValueError):
    """Raised for a text that is not a list of accounts; it has the line if there is one."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason if line is None else f"line {line}: {reason}")


@dataclass(frozen=True, slots=True)
class AccessDocument:
    """The content of one file."""

    global_white: tuple[str, ...] = ()
    accounts: tuple[PlainAccessConfig, ...] = ()
    version: DataVersion = field(default_factory=DataVersion)

    @classmethod
    def parse(cls, data: bytes) -> AccessDocument:
        """Return the content of a file, whose accounts and addresses are sound; raises BadAccessText."""
        root = _root(data)
        if root is None:
            return cls()
        found: dict[str, Any] = {}
        for name, node in _items(root, (_GLOBAL, _ACCOUNTS, _VERSION)):
            found[name] = node
        return cls(
            global_white=tuple(_texts(found.get(_GLOBAL), _check_address)),
            accounts=_accounts(found.get(_ACCOUNTS)),
            version=_version(found.get(_VERSION)),
        )

    def dump(self) -> bytes:
        """Return the text of a file; `parse` returns the same content."""
        tree: dict[str, Any] = {}
        if self.global_white:
            tree[_GLOBAL] = list(self.global_white)
        tree[_ACCOUNTS] = [coder.to_tree(each) for each in self.accounts]
        tree[_VERSION] = [{"counter": self.version.counter, "timestamp": self.version.timestamp}]
        text = yaml.safe_dump(tree, sort_keys=False, default_flow_style=False, width=4096)
        return text.encode()


class _Loader(yaml.BaseLoader):
    """Composes nodes whose scalars are texts; a text that grows while it is read is refused."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: yaml.Event = cast(Any, self).peek_event()
        if isinstance(event, yaml.AliasEvent):
            raise BadAccessText("an alias (*name) is not allowed here", _line(event))
        self.depth += 1
        if self.depth > _DEEPEST:
            raise BadAccessText("this is nested too deeply", _line(event))
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def _root(data: bytes) -> yaml.Node | None:
    if len(data) > MAX_BYTES:
        raise BadAccessText(f"the file is larger than {MAX_BYTES:,} bytes")
    try:
        loader = _Loader(data.decode())
        node = loader.get_single_node()
    except BadAccessText:
        raise
    except UnicodeDecodeError as error:
        raise BadAccessText(f"it is not UTF-8: {error.reason} at byte {error.start}") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise BadAccessText(error.problem or "it is not YAML", mark.line + 1 if mark else None) from error
    except yaml.YAMLError as error:
        raise BadAccessText(f"it is not YAML: {str(error).splitlines()[0]}") from error
    except (ValueError, OverflowError) as error:  # an escaped character that does not exist
        raise BadAccessText(f"it is not YAML: {error}") from error
    return None if isinstance(node, yaml.ScalarNode) and node.value in _EMPTY else node


def _items(node: yaml.Node, names: Sequence[str]) -> list[tuple[str, yaml.Node]]:
    """Return the entries of a table that has no other names than these, each at most once."""
    if not isinstance(node, yaml.MappingNode):
        raise BadAccessText(f"a table with {', '.join(names)} is expected here", _line(node))
    seen: set[str] = set()
    for key, _ in node.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else "a list or a table"
        if name not in names:
            raise BadAccessText(f"{name!r} is not one of {', '.join(names)}", _line(key))
        if name in seen:
            raise BadAccessText(f"{name} is there twice", _line(key))
        seen.add(name)
    return [(key.value, value) for key, value in node.value]


def _list(node: yaml.Node | None) -> list[yaml.Node]:
    if node is None or (isinstance(node, yaml.ScalarNode) and node.value in _EMPTY):
        return []
    if not isinstance(node, yaml.SequenceNode):
        raise BadAccessText("a list is expected here, each entry after a dash", _line(node))
    return list(node.value)


def _texts(node: yaml.Node | None, check: Callable[[str], object] | None = None) -> list[str]:
    found = []
    for each in _list(node):
        text = _text(each)
        if check is not None:
            _checked(check, text, each)
        found.append(text)
    return found


def _text(node: yaml.Node) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise BadAccessText("a text is expected here", _line(node))
    return str(node.value)


def _accounts(node: yaml.Node | None) -> tuple[PlainAccessConfig, ...]:
    found: dict[str, PlainAccessConfig] = {}
    for each in _list(node):
        config = _account(each)
        account = _checked(Account.of, config, each)
        if account.access_key in found:
            raise BadAccessText(f"the account {account.access_key} is there twice", _line(each))
        found[account.access_key] = config
    return tuple(found.values())


def _account(node: yaml.Node) -> PlainAccessConfig:
    values: dict[str, Any] = {}
    for name, value in _items(node, tuple(_FIELDS)):
        attribute, read = _FIELDS[name]
        values[attribute] = read(value)
    return PlainAccessConfig(**values)


def _optional(node: yaml.Node) -> str | None:
    text = _text(node)
    return None if text in _EMPTY else text


def _switch(node: yaml.Node) -> bool:
    text = _text(node).lower()
    if text not in _SWITCH:
        raise BadAccessText(f"admin is true or false, not {text[:80]!r}", _line(node))
    return _SWITCH[text]


_FIELDS: Final[dict[str, tuple[str, Callable[[yaml.Node], Any]]]] = {
    "accessKey": ("access_key", _text),
    "secretKey": ("secret_key", _text),
    "whiteRemoteAddress": ("white_remote_address", _optional),
    "admin": ("admin", _switch),
    "defaultTopicPerm": ("default_topic_perm", _optional),
    "defaultGroupPerm": ("default_group_perm", _optional),
    "topicPerms": ("topic_perms", _texts),
    "groupPerms": ("group_perms", _texts),
}


def _version(node: yaml.Node | None) -> DataVersion:
    for each in _list(node):
        values = {name: _number(value) for name, value in _items(each, ("counter", "timestamp", "stateVersion"))}
        return DataVersion(values.get("counter", 0), values.get("timestamp", 0))
    return DataVersion()


def _number(node: yaml.Node) -> int:
    text = _text(node)
    if not text.isascii() or not text.isdecimal() or len(text) > 18:
        raise BadAccessText(f"{text[:80]!r} is not a number", _line(node))
    return int(text)


def _check_address(text: str) -> object:
    return AddressPattern.parse(text)


def _checked(check: Callable[[Any], T], value: Any, node: yaml.Node) -> T:
    try:
        return check(value)
    except ValueError as error:
        raise BadAccessText(str(error), _line(node)) from error


def _line(place: yaml.Node | yaml.Event) -> int | None:
    mark = place.start_mark
    return None if mark is None else int(mark.line) + 1
