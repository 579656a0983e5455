"""One request to many brokers: their answers, and the brokers that failed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from broker_core.errors import GantryError

T = TypeVar("T")


@dataclass(frozen=True)  # no slots: with them `Answers[int]()` could not record its type
class Answers(Generic[T]):
    """The answers of several peers, by address; peers that failed are listed with their errors, never left out."""

    found: dict[str, T] = field(default_factory=dict)
    failed: dict[str, GantryError] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether all peers answered."""
        return not self.failed

    def raise_if_none(self) -> Answers[T]:
        """Return itself; raise the first failure if there are failures and no answers."""
        if not self.found and self.failed:
            raise next(iter(self.failed.values()))
        return self


async def ask_all(addresses: Iterable[str], ask: Callable[[str], Awaitable[T]]) -> Answers[T]:
    """Query every address at once; a `GantryError` is a failed answer, any other error is raised."""
    asked = list(dict.fromkeys(addresses))
    results = await asyncio.gather(*(_caught(ask, address) for address in asked))
    answers = Answers[T]()
    for address, result in zip(asked, results, strict=True):
        if isinstance(result, _Failed):
            answers.failed[address] = result.error
        else:
            answers.found[address] = result
    return answers


@dataclass(frozen=True, slots=True)
class _Failed:
    error: GantryError


async def _caught(ask: Callable[[str], Awaitable[T]], address: str) -> T | _Failed:
    try:
        return await ask(address)
    except GantryError as error:
        return _Failed(error)
