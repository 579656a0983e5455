"""The import contracts of pyproject.toml hold, and the rules of the house that a program can check."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_import_contracts_hold() -> None:
    program = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    checked = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_one_module_writes_the_maps_of_the_store() -> None:
    """store/README.md#invariants, rule 10."""
    broken = [
        f"{path.name}:{node.lineno} {ast.unparse(node)}"
        for path in sorted((ROOT / "broker_core/store").glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and path.name != "mapped_file.py" and not _may_stand(node, path.name)
    ]
    assert broken == []


def _may_stand(node: ast.Attribute, name: str) -> bool:
    if node.attr in ("wrote", "reserved") and not isinstance(node.ctx, ast.Load):
        return False
    # The compiled functions write a record or keys to the place that they are given.
    return node.attr != "writable" or name in ("appender.py", "index_file.py")
