"""The outcome of a change on each known broker; a broker that did not make it is listed with the reason."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Meta, Struct

from broker_core.client.answers import Answers
from broker_core.client.errors import MalformedAnswer, NotConfirmed, Unreachable
from broker_core.errors import GantryError
from console.clusters.connections import NoBrokerListed
from console.clusters.memory import Remembered, RememberedBroker
from console.clusters.reasons import reason_of


class BrokerOutcome(Struct, frozen=True):
    """Whether one broker made a change."""

    broker: str
    done: Annotated[
        bool | None, Meta(description="Null if the change was sent and not answered: the broker may have made it.")
    ]
    reason: Annotated[str | None, Meta(description="Why the broker did not make the change, or did not answer.")] = None


class PartlyDeleted(Struct, frozen=True):
    """The outcome of a deletion that not all brokers made."""

    name: str
    brokers: Sequence[BrokerOutcome]


@dataclass(frozen=True, slots=True)
class BrokerAnswers:
    """The answers of the listed brokers to a change, and the other brokers that it applies to."""

    masters: Mapping[str, str]
    """Address → name of the listed brokers."""
    answers: Answers[None] = field(default_factory=Answers)
    had_it: Collection[str] = ()
    """Brokers that already had the wanted state and were not asked."""
    missing: Iterable[RememberedBroker] = ()
    """Known brokers that the change applies to and that no name server lists."""

    def outcomes(self) -> tuple[BrokerOutcome, ...]:
        """Return one outcome for each broker, by name; raise a failure if none is known to have made the change.

        A name server that failed is listed by its address; one that succeeded is left out.
        """
        failed = self.answers.failed
        unknown = {self.masters.get(addr, addr) for addr, error in failed.items() if is_uncertain(error)}
        done = {*self.had_it, *(self.masters[addr] for addr in self.answers.found if addr in self.masters)}
        lacking = {
            **{self.masters.get(addr, addr): self._reason(error) for addr, error in failed.items()},
            **{broker.name: not_listed(broker) for broker in self.missing},
        }
        if not done:
            self._raise(lacking)
        found = [BrokerOutcome(name, True) for name in done] + [
            BrokerOutcome(name, None if name in unknown else False, why) for name, why in lacking.items()
        ]
        return tuple(sorted(found, key=lambda outcome: outcome.broker))

    def _reason(self, error: GantryError) -> str:
        return reason_of(error, self.masters)

    def _raise(self, lacking: Mapping[str, str]) -> None:
        # Rather one after which the change may be there than one that says that it is not.
        for error in sorted(self.answers.failed.values(), key=is_uncertain, reverse=True):
            raise error
        raise NoBrokerListed("; ".join(lacking.values()) or "the name server lists no broker")


def is_uncertain(error: GantryError) -> bool:
    """Return whether a request may have been carried out although it failed."""
    return isinstance(error, MalformedAnswer | NotConfirmed) or (isinstance(error, Unreachable) and error.was_sent)


def not_listed(broker: RememberedBroker, broker_id: int | None = None) -> str:
    """Return why a known broker, or one process of it, was not asked."""
    process = "" if broker_id is None else f" {broker_id}"
    return f"{broker.name}{process} is not listed by any name server"


def unlisted(memory: Remembered, listed: Collection[str]) -> list[RememberedBroker]:
    """Return the known brokers that are not among those that name servers list, with or without a master."""
    return memory.missing(listed)
