"""Compares answers with the OpenAPI document: their status and shape are among those of their operation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import httpx
import jsonschema_rs

_ARGUMENT: Final = re.compile(r"{\w+}")


class Document:
    """The served document."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._components = document["components"]
        # Paths without arguments before those that match them too, as `…/scheduled/summary` and `…/scheduled/{id}`.
        paths = sorted(document["paths"], key=lambda path: len(_ARGUMENT.findall(path)))
        self._paths = [(_pattern(path), document["paths"][path]) for path in paths]

    def check(self, response: httpx.Response) -> None:
        """Fail for an answer that is none of those of its operation; what has no operation is left out."""
        request = response.request
        operation = self._operation(request.method.lower(), request.url.raw_path.partition(b"?")[0].decode())
        if operation is None:
            return
        response.read()
        name, responses = operation["operationId"], operation["responses"]
        told = responses.get(str(response.status_code)) or (response.is_error and responses["default"])
        assert told, f"{name}: {response.status_code} is none of {', '.join(responses)}: {response.text}"
        kind = response.headers.get("content-type", "").partition(";")[0]
        if "content" not in told:
            assert not response.content, f"{name}: {response.status_code} has a body: {response.text}"
            return
        assert kind in told["content"], f"{name}: {response.status_code} is {kind}, not {', '.join(told['content'])}"
        if kind.endswith("json"):
            schema = {**told["content"][kind]["schema"], "components": self._components}
            jsonschema_rs.validator_for(schema).validate(response.json())

    def _operation(self, method: str, path: str) -> Any:
        for pattern, methods in self._paths:
            if method in methods and pattern.fullmatch(path):
                return methods[method]
        return None


def _pattern(path: str) -> re.Pattern[str]:
    parts = _ARGUMENT.split(path)
    return re.compile("[^/:]+".join(map(re.escape, parts)))
