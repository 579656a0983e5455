"""Dataclasses that are never changed and are quick to make."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def hot_value(cls: type[T]) -> type[T]:
    """Make a dataclass that the type checker holds frozen.

    At run time it is a plain class with slots, and has no hash: a truly frozen one takes four times as long to build,
    and one of these is built for every message that goes through.
    """
    return dataclass(slots=True)(cls)
