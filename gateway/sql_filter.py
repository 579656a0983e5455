"""SQL92 filters over the properties of messages, as requests name them (docs/http-api.md, "Consume by lease")."""

from __future__ import annotations

from typing import Final

from broker_core.sql92 import IllegalExpression, Sql92, compile_sql92

MOST_CHARACTERS: Final = 4_096
"""A quarter of what brokers take: it is compiled while the other requests of the process wait."""

MOST_OF_READERS: Final = 1_024
"""Of a filter that the gateway itself applies to each message that it reads, in a tail or a scan: up to 0.2 ms."""


class BadSql(ValueError):
    """The text is no SQL92 filter; the message says why, and at which character."""


def parse_sql(text: str) -> Sql92:
    """Return the compiled filter; raise BadSql.

    Those used last are kept compiled, together 1,048,576 characters (broker_core/sql92/README.md, "Limits").
    """
    if len(text) > MOST_CHARACTERS:
        raise BadSql(f"This is no SQL92 filter: longer than {MOST_CHARACTERS:,} characters.")
    if "\0" in text:
        # Queries and scans take no NUL at all: what is a filter here is one there, too.
        raise BadSql(f"This is no SQL92 filter: '\\x00' means nothing here, at character {text.index(chr(0)) + 1}.")
    try:
        return compile_sql92(text)
    except IllegalExpression as error:
        raise BadSql(f"This is no SQL92 filter: {error}.") from None
