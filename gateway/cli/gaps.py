"""What an answer may lack: brokers that were not asked, and slaves that were read in the place of their masters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import click

from gateway.cli.api import Json


class Gaps:
    """Gathers what the pages of one answer may lack, and tells it once, on stderr, in tables and in JSON alike."""

    def __init__(self, missing: str) -> None:
        """Say of each broker that is missing `missing`, such as "may have more"."""
        self._missing = missing
        self._sentences: dict[str, None] = {}

    def __bool__(self) -> bool:
        return bool(self._sentences)

    def note(self, page: Json) -> None:
        """Gather what one page says of itself."""
        told = (f"{each['broker']} {self._missing}: {each['reason']}" for each in page.get("missing", ()))
        self._sentences |= dict.fromkeys([*told, *map(_of_slave, page.get("from_slaves", ()))])

    def noted(self, pages: Iterable[Json]) -> Iterator[Any]:
        """Yield the items of pages, and gather what each page lacks."""
        for page in pages:
            self.note(page)
            yield from page["items"]

    def add(self, sentence: str) -> None:
        """Gather one more."""
        self._sentences[sentence] = None

    def tell(self) -> None:
        """Tell everything, and end the command with exit code 1 if there is something."""
        for sentence in self._sentences:
            click.echo(f"gantry: {sentence}", err=True)
        if self._sentences:
            raise SystemExit(1)


def tell_slave(slave: Json | None) -> None:
    """Tell that one message was read from a slave; it is whole, so nothing is wrong."""
    if slave is not None:
        click.echo(
            f"gantry: slave {slave['broker_id']} of {slave['broker']} was read, because {slave['reason']}", err=True
        )


def _of_slave(slave: Json) -> str:
    why = f"slave {slave['broker_id']} was read, because {slave['reason']}"
    return f"the newest messages of {slave['broker']} may be missing: {why}"
