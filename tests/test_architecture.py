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


def test_structs_that_are_read_are_worked_out_at_import() -> None:
    """`broker_core.structs.decoded` says why."""
    trees = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): ast.parse(path.read_text(encoding="utf-8"))
        for package in ("broker_core", "gateway", "console")
        for path in (ROOT / package).rglob("*.py")
    }
    read = {(module, name) for module, tree in trees.items() for name in _read_as(tree)}
    assert len(read) > 20
    wrong = sorted(
        f"{home}.{name}"
        for module, name in read
        for home, struct in [_struct_of(trees, module, name)]
        if struct is not None and "decoded" not in {ast.unparse(each) for each in struct.decorator_list}
    )
    assert wrong == []


def _read_as(tree: ast.Module) -> set[str]:
    """Return the names in the types as which a module reads values in its functions."""
    kinds: list[ast.expr] = []
    for call in ast.walk(tree):
        if isinstance(call, ast.Call):
            called = ast.unparse(call.func).rpartition(".")[2]
            if called in ("convert", "lines", "last_line", "_lines") and len(call.args) > 1:
                kinds.append(call.args[1])
            kinds += [each.value for each in call.keywords if called == "decode" and each.arg == "type"]
    return {name.id for kind in kinds for name in ast.walk(kind) if isinstance(name, ast.Name)}


def _struct_of(trees: dict[str, ast.Module], module: str, name: str) -> tuple[str, ast.ClassDef | None]:
    """Return the module in which a class that `module` names is defined, and the class; None for another thing."""
    for node in trees[module].body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return module, node
        if isinstance(node, ast.ImportFrom) and node.module in trees and name in {each.name for each in node.names}:
            return _struct_of(trees, node.module, name)
    return module, None
