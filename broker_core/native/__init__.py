"""Compiled twins of hot functions; see README.md here.

`native` is the compiled module, or None; `why_not` says why then. A module that has twins chooses once, when it is
imported::

    cut_frames = native.cut_frames if native else _cut_frames
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Final, cast

from broker_core.native.functions import Native
from broker_core.native.sources import sources_digest

SETTING: Final = "GANTRY_NATIVE"


def is_turned_off() -> bool:
    """Say whether the environment forbids the compiled functions."""
    return os.environ.get(SETTING, "on").lower() in ("off", "0", "false", "no")


def _load() -> tuple[Native | None, str]:
    if is_turned_off():
        return None, f"{SETTING} says so"
    try:
        module = import_module("broker_core.native._native")
    except ImportError as error:
        return None, f"they are not built: {error}"
    if sources_digest() != module.SOURCES:
        return None, "they were built from other sources; `make` rebuilds them"
    return cast(Native, module), ""


native, why_not = _load()
