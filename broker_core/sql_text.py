"""What an SQL expression of a request may contain: values of its row, and nothing else of the machine that runs it."""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 4000

# A text, or a quoted name: what is in it is no code. A raw text ends elsewhere than others.
_QUOTED: Final = re.compile(r"""(?P<raw>[rR]['"])|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`""", re.DOTALL)
_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DOLLARS: Final = re.compile(r"\$[A-Za-z0-9_]*\$")
_QUOTED_CALL: Final = re.compile(r"`\s*\(")
# A query in an expression may read any file, or run a command.
_QUERIES: Final = frozenset({"select", "table", "values", "with", "map", "reduce", "exists", "using"})
_FROM: Final = re.compile(r"\(\s*from\b")
# They call any method of Java, or tell of the machine.
_FUNCTIONS: Final = frozenset({
    "identifier", "reflect", "try_reflect", "java_method", "current_user", "user", "session_user", "current_database",
    "current_catalog", "current_schema", "input_file_name", "input_file_block_start", "input_file_block_length",
    "version", "raise_error", "assert_true", "from_protobuf", "to_protobuf",
    # Their schemas are read from files and addresses that an option names, with the rights of the worker.
    "from_xml", "schema_of_xml", "from_avro", "to_avro", "schema_of_avro",
})  # fmt: skip
# Their values depend on other rows, or they make several rows of one.
_OF_ROWS: Final = frozenset({"over", "window", "session_window"})
_CALLED: Final = frozenset({"map", "reduce", "exists", "values"})
"""Words of queries that are also functions of a value, written with what follows at once."""


def sql_fault(text: str) -> str | None:
    """Return what is wrong with an expression, for its user; None if it may be given to Spark.

    Whether Spark understands it only Spark can say.
    """
    if not text.strip():
        return "is empty"
    if len(text) > LONGEST:
        return f"has {len(text):,} characters, and at most {LONGEST:,} are allowed"
    if "${" in text:
        # Spark puts variables of the environment and settings in their place, in texts too, before it parses.
        return "has '${', which Spark takes for a variable; write it as '$' || '{'"
    if any(found["raw"] for found in _QUOTED.finditer(text)):
        return "has a raw text (r'…'); write it with doubled backslashes"
    rest = _QUOTED.sub(lambda found: "` " if found[0][0] == "`" else " ? ", text)
    if _DOLLARS.search(text):
        return "has a text in dollar signs; write it in quotes"
    if _QUOTED_CALL.search(rest):
        return "has the name of a function in backquotes"
    # Spark's words are compared in capitals, and those of some foreign letters are ours.
    rest = rest.replace("` ", " ? ").upper().lower()
    at = _unclosed(text)
    if at is not None:
        return f"has {text[at]!r} at character {at + 1}, and no other one that closes it: …{text[at : at + 20]}"
    for mark in (";", "--", "/*", "$"):
        if mark in rest:
            return f"has {mark!r} outside of a text"
    for found in _WORD.finditer(rest):
        fault = _word_fault(found[0], rest[found.end() :])
        if fault:
            return fault
    return "has a query; only an expression over the row is allowed" if _FROM.search(rest) else None


def _unclosed(text: str) -> int | None:
    """Return the place of a quotation mark that begins a text or a name without an end; None if there is none."""
    found = re.search("['\"`]", _QUOTED.sub(lambda quoted: " " * len(quoted[0]), text))
    return None if found is None else found.start()


def _word_fault(word: str, after: str) -> str | None:
    if word in _CALLED and after.lstrip().startswith("("):
        # `exists(SELECT …)` has another of the words.
        return None
    if word in _QUERIES:
        return f"has the word {word!r} of a query; only an expression over the row is allowed, a column is `{word}`"
    is_call = after.lstrip().startswith("(") or word in ("current_user", "session_user", "user")
    if word in _OF_ROWS and (is_call or word == "over"):
        return f"has {word!r}; only an expression over one row is allowed"
    if word in _FUNCTIONS and is_call:
        return f"has the function {word!r}, which does not compute a value of the row"
    return None
