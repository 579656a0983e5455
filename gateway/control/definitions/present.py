"""The items of a section as they are now, and what they leave unsaid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from gateway.control.definitions.shapes import Remark, Section

D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class Present(Generic[D]):
    """The items by name, None if they are not known; the remarks say why, and what is not exact."""

    items: Mapping[str, D] | None
    remarks: list[Remark] = field(default_factory=list)

    def in_order(self) -> list[D] | None:
        """Return the items sorted by name, None if they are not known."""
        return None if self.items is None else [self.items[name] for name in sorted(self.items)]


def not_allowed(section: Section, right: str, cluster: str | None = None) -> Present[D]:
    """Return a section that the caller may not read."""
    text = f"Left out: this needs the right {right!r}."
    return Present(None, [Remark(code="not_allowed", section=section, cluster=cluster, text=text)])
