"""Dataclasses that are never modified and are fast to create."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def hot_value(cls: type[T]) -> type[T]:
    """Make a dataclass that type checkers treat as frozen.

    At run time it is a plain class with slots and without a hash: creating a really frozen instance takes four times
    as long, and one is created for every message.
    """
    return dataclass(slots=True)(cls)
