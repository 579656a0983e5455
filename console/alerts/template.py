"""The words of a delivery: a rule's own template, or a sentence. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

NAMES: Final = ("rule", "severity", "state", "cluster", "subject", "value", "limit", "count")
_FIELD: Final = re.compile(r"{(\w*)}")
MAX_TITLE: Final = 500
DEFAULT: Final = "{rule} is {state}: {subject} in {cluster} has {value}, the limit is {limit}"

YES_OR_NO: Final = "{rule} is {state}: {subject} in {cluster}"


def unknown_names(template: str) -> list[str]:
    """Return the names in braces that no delivery has."""
    return sorted({name for name in _FIELD.findall(template) if name not in NAMES})


def filled(template: str, values: Mapping[str, str], default: str = DEFAULT) -> str:
    """Return the template with its names in braces replaced; an empty template is the default sentence. One line."""
    text = _FIELD.sub(lambda found: values.get(found[1], found[0]), template or default)
    return " ".join(text.split())[:MAX_TITLE]
