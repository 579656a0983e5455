"""What an SQL expression of a request may contain: values of its row, and nothing else of the machine that runs it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from broker_core.sql_functions import ALLOWED, OPTIONS, OPTIONS_AFTER, WITHOUT_BRACKETS, why_refused
from broker_core.sql_moments import TIMES, is_moment
from broker_core.sql_tokens import TOKEN, Token, arguments

LONGEST: Final = 4000

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


def sql_fault(text: str, columns: Collection[str] | None = None, times: Collection[str] = TIMES) -> str | None:
    """Return what is wrong with an expression, for its user; None if it may be given to Spark.

    Whether Spark understands it only Spark can say. With the names of the columns it is also found where a name in
    backquotes is no column, and Spark would take it for a function. `times` are the columns with dates and times.
    """
    if not text.strip():
        return "is empty"
    if len(text) > LONGEST:
        return f"has {len(text):,} characters, and at most {LONGEST:,} are allowed"
    if "${" in text:
        # Spark puts variables of the environment and settings in their place, in texts too, before it parses.
        return "has '${', which Spark takes for a variable; write it as '$' || '{'"
    tokens = []
    for found in TOKEN.finditer(text):
        fault = _fault_of_form(text, found)
        if fault is not None:
            return fault
        if found.lastgroup != "space":
            kind = str(found.lastgroup)
            tokens.append(Token(kind, found[0].lower() if kind == "word" else found[0]))
    known = None if columns is None else {name.lower() for name in columns}
    moments = {name.lower() for name in times}
    faults = (_fault_at(tokens, number, known, moments) for number in range(len(tokens)))
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


def _fault_at(
    tokens: Sequence[Token], number: int, columns: Collection[str] | None, times: Collection[str]
) -> str | None:
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
            return f"has {token.text}, {why_refused('now')}" if is_moment(tokens, number, times) else None
    return None


def _fault_of_word(word: str, tokens: Sequence[Token], number: int, before: str, behind: str) -> str | None:
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
    return _fault_of_arguments(word, list(arguments(tokens, number + 1)))


def _of_function(name: str, hint: str = "") -> str:
    return f"has the function {name!r}, {why_refused(name)}{hint}"


def _fault_of_name(name: str, before: str, columns: Collection[str] | None) -> str | None:
    if columns is None or before in (".", ":") or name in columns or name not in WITHOUT_BRACKETS:
        return None
    return f"{_of_function(name)}, and there is no column of this name"


def _fault_of_arguments(function: str, arguments: Sequence[Sequence[Token]]) -> str | None:
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
