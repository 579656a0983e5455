"""The OpenAPI document as a page without scripts: the operations by tag."""

from __future__ import annotations

from collections import defaultdict

from gateway.control.data_plane_paths import Schema


def describe(document: Schema) -> Schema:
    """Return the context of the template: the title, and for each tag its operations by path."""
    by_tag: defaultdict[str, list[Schema]] = defaultdict(list)
    for path, operations in sorted(document["paths"].items()):
        for method, operation in operations.items():
            by_tag[operation.get("tags", ["other"])[0]].append(
                {
                    "method": method.upper(),
                    "path": path,
                    "summary": operation.get("summary", ""),
                    "parameters": [_parameter(each) for each in operation.get("parameters", [])],
                    "request": _schema_name(operation.get("requestBody", {})),
                    "answers": [
                        {"status": status, "schema": _schema_name(answer)}
                        for status, answer in operation["responses"].items()
                        if status != "default"
                    ],
                }
            )
    return {"title": document["info"]["title"], "tags": sorted(by_tag.items())}


def _parameter(parameter: Schema) -> Schema:
    return {
        "name": parameter["name"],
        "where": parameter["in"],
        "required": parameter.get("required", False),
        "text": parameter.get("description", ""),
    }


def _schema_name(holder: Schema) -> str:
    for content in holder.get("content", {}).values():
        return str(content.get("schema", {}).get("$ref", "")).rpartition("/")[2]
    return ""
