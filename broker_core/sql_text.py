"""What an SQL expression of a request may contain: values of its row, and nothing else of the machine that runs it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from broker_core.sql_functions import ALLOWED, OPTIONS, OPTIONS_AFTER, WITHOUT_BRACKETS, why_refused

LONGEST: Final = 4000

# What is in a text or in a quoted name is no code.
_TOKEN: Final = re.compile(
    r"""(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?P<name>`[^`]*`)|(?P<word>[A-Za-z0-9_]+)"""
    r"""|(?P<space>[ \t\r\n]+)|(?P<mark>.)""",
    re.DOTALL,
)
_MARKS: Final = frozenset("()[],.:+-*/%<>=!|&^~?")
_COMMENTS: Final = ("--", "/*")
_RAW: Final = ("r'", 'r"')
# A query in an expression may read any file, or run a command.
_QUERIES: Final = frozenset({"select", "table", "values", "with", "map", "reduce", "exists", "using"})
# Also functions of a value, written with what follows at once.
_CALLED: Final = frozenset({"map", "reduce", "exists"})
# Words of expressions that may stand before a bracket, beside functions.
_KEYWORDS: Final = frozenset({
    "and", "else", "escape", "for", "from", "or", "placing", "then",
})  # fmt: skip
_PATTERNS: Final = frozenset({"like", "ilike"})
_OF_PATTERNS: Final = frozenset({"all", "any", "some"})
_TYPES: Final = frozenset({
    "char", "character", "dec", "decimal", "numeric", "time", "timestamp_ltz", "timestamp_ntz", "varchar",
})  # fmt: skip
# A time that Spark puts into the place of such a text.
_MOMENTS: Final = re.compile(r"['\"]\s*(now|today|tomorrow|yesterday)\b", re.IGNORECASE)
_OF_MOMENTS: Final = frozenset({
    "date", "timestamp", "timestamp_ltz", "timestamp_ntz", "to_date", "to_timestamp", "to_timestamp_ltz",
    "to_timestamp_ntz", "try_to_date", "try_to_timestamp",
})  # fmt: skip
_CASTS: Final = frozenset({"cast", "try_cast"})


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    """As it was written, a word in lower case."""


def sql_fault(text: str, columns: Collection[str] | None = None) -> str | None:
    """Return what is wrong with an expression, for its user; None if it may be given to Spark.

    Whether Spark understands it only Spark can say. With the names of the columns it is also found where a name in
    backquotes is no column, and Spark would take it for a function.
    """
    if not text.strip():
        return "is empty"
    if len(text) > LONGEST:
        return f"has {len(text):,} characters, and at most {LONGEST:,} are allowed"
    if "${" in text:
        # Spark puts variables of the environment and settings in their place, in texts too, before it parses.
        return "has '${', which Spark takes for a variable; write it as '$' || '{'"
    tokens = []
    for found in _TOKEN.finditer(text):
        fault = _fault_of_form(text, found)
        if fault is not None:
            return fault
        if found.lastgroup != "space":
            kind = str(found.lastgroup)
            tokens.append(_Token(kind, found[0].lower() if kind == "word" else found[0]))
    known = None if columns is None else {name.lower() for name in columns}
    faults = (_fault_at(tokens, number, known) for number in range(len(tokens)))
    return next((fault for fault in faults if fault is not None), None)


def _fault_of_form(text: str, found: re.Match[str]) -> str | None:
    kind, begin = found.lastgroup, found.start()
    if kind == "text" and text[max(0, begin - 1) : begin + 1].lower() in _RAW:
        return "has a raw text (r'…'); write it with doubled backslashes"
    if kind != "mark":
        return None
    if found[0] in "'\"`":
        rest = text[begin : begin + 20]
        return f"has {found[0]!r} at character {begin + 1}, and no other one that closes it: …{rest}"
    if text.startswith(_COMMENTS, begin):
        return f"has {text[begin : begin + 2]!r} outside of a text"
    if found[0] in _MARKS:
        return None
    hint = "; a name with it is written in backquotes" if found[0].isalpha() else ""
    return f"has {found[0]!r} outside of a text{hint}"


def _fault_at(tokens: Sequence[_Token], number: int, columns: Collection[str] | None) -> str | None:
    token = tokens[number]
    before = tokens[number - 1].text if number else ""
    behind = tokens[number + 1].text if number + 1 < len(tokens) else ""
    match token.kind:
        case "word":
            return _fault_of_word(token.text, tokens, number, before, behind)
        case "name":
            if behind == "(":
                return "has the name of a function in backquotes"
            return _fault_of_name(token.text[1:-1].lower(), before, columns)
        case "text":
            if behind == "(":
                return "has a text before a bracket"
            return _fault_of_moment(tokens, number, before, behind)
    return None


def _fault_of_word(word: str, tokens: Sequence[_Token], number: int, before: str, behind: str) -> str | None:
    is_call, is_field = behind == "(", before in (".", ":")
    if is_call and before == ".":
        return f"has the function {word!r} with a name before it; write the function alone"
    if is_field and not is_call:
        return None
    is_type = word == "map" and behind == "<"
    if word in _QUERIES and not (is_call and word in _CALLED) and not is_type:
        return f"has the word {word!r} of a query; only an expression over the row is allowed, a column is `{word}`"
    if word == "from" and before == "(":
        return "has a query; only an expression over the row is allowed"
    if word == "over":
        return "has 'over'; only an expression over one row is allowed"
    if not is_call:
        return _of_function(word, f"; a column is `{word}`") if word in WITHOUT_BRACKETS else None
    if before == ":" and word not in _TYPES:
        return f"has {word!r} where a type is expected"
    if word in _OF_PATTERNS and before in _PATTERNS:
        return None
    if word not in ALLOWED and word not in _KEYWORDS and word not in _TYPES:
        return _of_function(word)
    return _fault_of_arguments(word, list(_arguments(tokens, number + 1)))


def _of_function(name: str, hint: str = "") -> str:
    return f"has the function {name!r}, {why_refused(name)}{hint}"


def _fault_of_name(name: str, before: str, columns: Collection[str] | None) -> str | None:
    if columns is None or before in (".", ":") or name in columns or name not in WITHOUT_BRACKETS:
        return None
    return f"{_of_function(name)}, and there is no column of this name"


def _fault_of_moment(tokens: Sequence[_Token], number: int, before: str, behind: str) -> str | None:
    if not _MOMENTS.match(tokens[number].text):
        return None
    function = tokens[number - 2].text if before == "(" and number > 1 else before
    if function in _OF_MOMENTS or behind == ":" or (function in _CASTS and behind == "as"):
        return f"has {tokens[number].text}, {why_refused('now')}"
    return None


def _arguments(tokens: Sequence[_Token], bracket: int) -> Iterator[list[_Token]]:
    """Yield the arguments of a call, from its bracket on."""
    depth, found = 0, list[_Token]()
    for token in tokens[bracket:]:
        depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
        if depth == 0 or (depth == 1 and token.text == ","):
            yield found
            found = []
        elif found or depth > 1 or token.text != "(":
            found.append(token)
        if depth == 0:
            return
    yield found


def _fault_of_arguments(function: str, arguments: Sequence[Sequence[_Token]]) -> str | None:
    if function == "unix_timestamp" and not arguments[0]:
        return _of_function("now").replace("'now'", "'unix_timestamp' without a time")
    options_after = OPTIONS_AFTER.get(function)
    if options_after is None or len(arguments) <= options_after:
        return None
    call, *rest = [token.text for token in arguments[options_after]][:-1] or [""]
    texts, commas = rest[1::2], rest[2::2]
    if call != "map" or rest[:1] != ["("] or {*commas} - {","} or not all(text[:1] in "'\"" for text in texts):
        return f"has options of {function!r} in another form than map('name', 'value', …)"
    allowed = {name.lower() for name in OPTIONS}
    wrong = next((name for name in texts[::2] if name[1:-1].lower() not in allowed), None)
    return (
        None
        if wrong is None
        else f"has the option {wrong} of {function!r}; known: {', '.join(sorted(OPTIONS, key=str.lower))}"
    )
