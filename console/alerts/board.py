"""Evaluates all rules on the figures of one cluster. Pure.

The subjects are sorted once for each metric: a rule whose limit nobody crosses costs one look-up.

Only what is not quiet is remembered: subjects beyond a limit and those of which nothing is known.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from typing import Final

from console.alerts.life import QUIET, Life, Limits, step
from console.alerts.metrics import Values

MAX_OPEN_OF_A_RULE: Final = 200
"""How many subjects of one rule and cluster are followed at once; the number of further ones is shown."""
_MAX_UNKNOWN: Final = MAX_OPEN_OF_A_RULE // 2


@dataclass(frozen=True, slots=True)
class Watched:
    """A rule as the evaluation needs it."""

    id: str
    metric: str
    subject: str
    limits: Limits


@dataclass(frozen=True, slots=True)
class Change:
    """A subject whose alert changed its state."""

    rule: str
    subject: str
    before: Life
    after: Life
    value: float | None


@dataclass(frozen=True, slots=True)
class RuleNow:
    """What a rule shows now."""

    subjects: int
    unfollowed: int
    worst: str | None = None
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """The values of each metric at one moment."""

    values: Mapping[str, Values]
    is_whole: bool
    """Whether all brokers answered: only then is a subject that is absent really gone."""


@dataclass(slots=True)
class _Names:
    """Which subjects match a rule; computed again only when there are other subjects."""

    keys: frozenset[str]
    pattern: str
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Ranking:
    """The subjects of one metric in the order of their values, sorted once for all rules."""

    values: Values
    amounts: list[float]
    names: list[str]
    unknown: list[str]

    @classmethod
    def of(cls, values: Values) -> _Ranking:
        known = sorted((value, name) for name, value in values.items() if value is not None)
        unknown = [name for name, value in values.items() if value is None]
        return cls(values, [value for value, _ in known], [name for _, name in known], unknown)

    def beyond(self, limits: Limits) -> list[str]:
        """Return the subjects beyond the limit, the worst first."""
        if limits.is_above:
            return self.names[bisect_right(self.amounts, limits.limit) :][::-1]
        return self.names[: bisect_left(self.amounts, limits.limit)]


@dataclass(slots=True)
class Board:
    """The lives of all alerts of one cluster."""

    lives: dict[str, dict[str, Life]] = field(default_factory=dict)
    """Rule id to subject to life; quiet ones are absent."""
    unfollowed: dict[str, int] = field(default_factory=dict)
    _names: dict[str, _Names] = field(default_factory=dict)
    _keys: dict[str, frozenset[str]] = field(default_factory=dict)
    _rankings: dict[str, _Ranking] = field(default_factory=dict)

    def step(self, rules: Sequence[Watched], figures: Figures, now: int) -> list[Change]:
        """Return what changes at `now` (ms); only `accept` makes a change of state final.

        A change that cannot be kept is not accepted, and comes again at the next step. Alerts of rules that are not
        among `rules` end.
        """
        changes: list[Change] = []
        for rule in rules:
            changes += self._rule(rule, figures, now)
        for gone in self.lives.keys() - {rule.id for rule in rules}:
            for subject, life in self.lives[gone].items():
                changes.append(Change(gone, subject, life, Life("quiet", now), None))
        return changes

    def accept(self, changes: Iterable[Change]) -> None:
        """Take over changes that were kept."""
        for change in changes:
            self._keep(change.rule, change.subject, change.after)

    def now(self, rule: Watched, figures: Figures) -> RuleNow:
        """Return what a rule shows: how many subjects, and the one that is worst of those that are known."""
        values = figures.values.get(rule.metric, {})
        matching = self._matching(rule, values)
        ranked = self._ranking(rule.metric, values).names
        ordered = reversed(ranked) if rule.limits.is_above else ranked
        worst = next((name for name in ordered if name in matching), None)
        value = None if worst is None else values[worst]
        return RuleNow(len(matching), self.unfollowed.get(rule.id, 0), worst, value)

    def _rule(self, rule: Watched, figures: Figures, now: int) -> list[Change]:
        values = figures.values.get(rule.metric, {})
        lives = self.lives.get(rule.id, {})
        suspects = self._suspects(rule, values, lives)
        if not suspects:
            return []
        changes = []
        for subject in suspects:
            before = lives.get(subject, QUIET)
            if subject in values or not figures.is_whole:
                value = values.get(subject)
                after = step(before, value, now, rule.limits)
            else:
                value, after = None, Life("quiet", now)
            if after.word != before.word:
                changes.append(Change(rule.id, subject, before, after, value))
            elif after is not before:
                self._keep(rule.id, subject, after)
        return changes

    def _suspects(self, rule: Watched, values: Values, lives: Mapping[str, Life]) -> list[str]:
        """Return the subjects that are not simply quiet, the worst first, at most as many as are followed."""
        names, ranks = self._matching(rule, values), self._ranking(rule.metric, values)
        crossed = [name for name in ranks.beyond(rule.limits) if name in names]
        unknown = [name for name in ranks.unknown if name in names] if len(names) < len(values) else ranks.unknown
        new = [name for name in crossed if name not in lives]
        lost = [name for name in unknown if name not in lives]
        space = max(0, MAX_OPEN_OF_A_RULE - len(lives))
        space_of_lost = max(0, _MAX_UNKNOWN - len(lives) - len(new))
        self.unfollowed[rule.id] = max(0, len(new) - space) + max(0, len(lost) - space_of_lost)
        return [*lives, *new[:space], *lost[:space_of_lost]]

    def _ranking(self, metric: str, values: Values) -> _Ranking:
        found = self._rankings.get(metric)
        if found is None or found.values is not values:
            found = self._rankings[metric] = _Ranking.of(values)
        return found

    def _matching(self, rule: Watched, values: Values) -> frozenset[str]:
        keys = self._keys.get(rule.metric)
        if keys is None or keys != values.keys():
            keys = self._keys[rule.metric] = frozenset(values)
        found = self._names.get(rule.id)
        if found is None or found.keys is not keys or found.pattern != rule.subject:
            matches = re.compile(translate(rule.subject)).match
            names = frozenset(name for name in values if matches(name))
            found = self._names[rule.id] = _Names(keys, rule.subject, names)
        return found.names

    def _keep(self, rule: str, subject: str, life: Life) -> None:
        if life.word != "quiet" or life.unknown_at is not None:
            self.lives.setdefault(rule, {})[subject] = life
            return
        lives = self.lives.get(rule, {})
        lives.pop(subject, None)
        if not lives:
            self.lives.pop(rule, None)
