"""The words of the console in one of its languages, so that a flow can be done in each."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from tests.support.gantry import ROOT

LANGUAGES: Final = ("en", "zh")
Words = Callable[..., str]

# They put together what the other files hold.
_BUNDLES: Final = {"first", "rest", "index"}
_STRING: Final = r'"(?:[^"\\]|\\.)*"'
_CONST: Final = re.compile(r"^(export )?const (\w+)(?:: [^=\n]+)? = (\{.*?^\})", re.DOTALL | re.MULTILINE)
# A text, a key, and what JSON does not have: a name alone (a part from another file), a comma at the end, a comment.
_TOKEN: Final = re.compile(rf"({_STRING})|([A-Za-z_]\w*):|,\s*[A-Za-z_]\w*(?=\s*[,}}])|,(?=\s*}})|//[^\n]*")


def words_in(language: str) -> Words:
    """Return a function that gives the text at a path of the catalogue: ``t("roles.copy", name="x")``.

    A text that depends on a number takes `count`, as in the pages.
    """

    def text(path: str, **values: object) -> str:
        found: Any = _catalogue(language)
        *parents, last = path.split(".")
        for parent in parents:
            found = found[parent]
        form = "_one" if values.get("count") == 1 and f"{last}_one" in found else "_other"
        template = found[last] if last in found else found[last + form]
        return re.sub(r"\{\{(\w+)\}\}", lambda place: str(values[place[1]]), template)

    return text


@cache
def _catalogue(language: str) -> dict[str, Any]:
    whole: dict[str, Any] = {}
    for file in sorted((ROOT / "frontend/src/locales" / language).glob("*.ts")):
        if file.stem in _BUNDLES:
            continue
        for is_whole, name, literal in _CONST.findall(file.read_text(encoding="utf-8")):
            found = json.loads(_TOKEN.sub(_as_json, literal))
            whole |= found if is_whole else {name: found}
    return whole


def _as_json(token: re.Match[str]) -> str:
    text, key = token.groups()
    return text or (f'"{key}":' if key else "")
