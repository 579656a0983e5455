"""What the commands print: a table for people, or JSON Lines for programs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

import click

from gateway.cli.exact import Number, encode

UNKNOWN: Final = "-"
_GAP: Final = "  "
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Output:
    """Prints to stdout, in the form that the caller chose."""

    def __init__(self, *, is_json: bool) -> None:
        self.is_json = is_json

    def rows(self, items: Iterable[Any], columns: Sequence[str]) -> None:
        """Print items: whole as JSON, one a line, or these columns as a table.

        A column is a field, `a.b` the field b of a; `heading=field` has another heading than the field's own name.
        """
        Table(self, columns).add(items)

    def one(self, item: Any) -> None:
        """Print one resource: as a line of JSON, or a field a line."""
        if self.is_json or not isinstance(item, dict):
            self.json(item)
            return
        width = max(map(len, item), default=0)
        for name, value in item.items():
            click.echo(f"{name.ljust(width)}{_GAP}{_text(value)}")

    def json(self, item: Any) -> None:
        """Print one line of JSON."""
        click.echo(encode(item))

    def done(self, answer: Any, sentence: str) -> None:
        """Print the answer to a change for programs, or the sentence for people; raises NotWhole if a part failed."""
        parts = [] if answer is None else [*answer.get("brokers", ()), *answer.get("queues", ())]
        failed = [each for each in parts if isinstance(each, dict) and not each.get("done", True)]
        if self.is_json:
            self.json({} if answer is None else answer)
        elif not failed:
            click.echo(sentence)
        if failed:
            raise NotWhole(failed)


class Table:
    """Items that come in portions, under one head; a column is as wide as what it has held so far."""

    def __init__(self, out: Output, columns: Sequence[str]) -> None:
        self._out = out
        named = [column.rpartition("=") for column in columns]
        self._fields = [field for _, _, field in named]
        self._widths = [0] * len(columns)
        self._head: list[list[str]] = [[_heading(words or field) for words, _, field in named]]

    def add(self, items: Iterable[Any]) -> None:
        """Print a portion."""
        if self._out.is_json:
            for item in items:
                self._out.json(item)
            return
        lines = self._head + [[_line(_text(_field(item, column))) for column in self._fields] for item in items]
        self._head = []
        self._widths = [max(map(len, cells)) for cells in zip(map(" ".__mul__, self._widths), *lines, strict=True)]
        for line in lines:
            click.echo(_GAP.join(cell.ljust(width) for cell, width in zip(line, self._widths, strict=True)).rstrip())


class NotWhole(Exception):
    """A change was made in part; the text names what was not changed, and why."""

    def __init__(self, failed: Sequence[dict[str, Any]]) -> None:
        rows = [f"\n  {each['broker']}{_queue(each)}: {each.get('reason')}" for each in failed]
        super().__init__(f"not done everywhere:{''.join(rows)}")


def _heading(words: str) -> str:
    return words.upper().replace("_", " ").replace(".", " ")


def _queue(row: dict[str, Any]) -> str:
    return f"/{row['queue_id']}" if "queue_id" in row else ""


def _field(item: Any, column: str) -> Any:
    for name in column.split("."):
        item = item.get(name) if isinstance(item, dict) else None
    return item


def _line(text: str) -> str:
    """Return a text as a cell: on one line, and with nothing that a terminal would obey."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", " ".join(line.strip() for line in text.splitlines()))


def _text(value: Any) -> str:
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Number) and not value.text.lstrip("-").isdigit():
        value = float(value.text)
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1 else f"{value:.2f}".rstrip("0").rstrip(".")
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return " ".join(value)
    return encode(value) if isinstance(value, list | dict) else str(value)
