"""The project as `pip install` leaves it: Spark finds ``format("rocketmq")`` by name, and the notebook runs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from broker_core.client.blocking import BlockingSession
from broker_core.spark.java import find_java
from tests.support.cluster import RunningBroker
from tests.support.topics import orders, write_topic

pytestmark = pytest.mark.spark

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOK = ROOT / "docs" / "examples" / "topics-as-tables.ipynb"
READ_STORE = """
from pyspark.sql import SparkSession
from broker_core.native import native
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
print(spark.read.format("rocketmq").options(store="store", topic="orders").load().count(), native is not None)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the project, built from a copy of what it needs: building leaves files behind."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "broker_core", source / "broker_core", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation")
    subprocess.run([*pip, "--wheel-dir", str(built), str(source)], check=True, capture_output=True, text=True)
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with the wheel and what it depends on, without the folder of the project."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, symlinks=True)
    purelib = next((folder / "lib").iterdir()) / "site-packages"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(purelib)
    # Downloading its dependencies once more would prove nothing; those of the tests are the same.
    (purelib / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin" / "python"


def run(python: Path, program: str, folder: Path, cache: Path, **more: str) -> str:
    """Run a program as somebody else's notebook would: nothing tells it where the project is."""
    environment = {
        name: text for name, text in os.environ.items() if not name.startswith(("PYTHON", "SPARK", "PYSPARK"))
    }
    # As in an activated environment: Spark starts its workers by the name python3.
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    environment |= {"PATH": path, "JAVA_HOME": str(find_java(cache).home), "SPARK_LOCAL_IP": "127.0.0.1", **more}
    done = subprocess.run(
        [python, "-c", program], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_has_the_compiled_functions_and_every_package(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    packages = {path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "broker_core").rglob("__init__.py")}
    packages.remove("broker_core/spark/by_name/pyspark_rocketmq")
    assert {name.rpartition("/")[0] for name in names if name.endswith("/__init__.py")} == packages | {
        "pyspark_rocketmq"
    }
    assert any(name.startswith("broker_core/native/_native.") for name in names)


@pytest.fixture(scope="module")
def printed(
    python: Path,
    shared_broker: RunningBroker,
    session: BlockingSession,
    tmp_path_factory: pytest.TempPathFactory,
    spark_cache: Path,
) -> list[str]:
    """What the notebook printed last, and after it a program that reads a store: a Java for each would take long."""
    folder = tmp_path_factory.mktemp("strangers")
    write_topic(folder / "store", orders(100), queues=2)
    session.run(session.admin.topics.create("orders-notebook", read_queues=4, write_queues=4))
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    told = "print([by_tag, returned, first, second, [row['key'] for row in found]])"
    program = f"{code}\n{told}\n{READ_STORE}"
    return run(python, program, folder, spark_cache, ROCKETMQ_NAMESRV=shared_broker.name_server).splitlines()[-2:]


def test_the_notebook_of_the_documentation_runs(printed: list[str]) -> None:
    assert printed[0] == "[{'paid': 900, 'returned': 100}, 100, 1000, 1100, ['order-42']]"


def test_a_store_is_read_by_name_without_register_and_without_pythonpath(printed: list[str]) -> None:
    assert printed[1].split() == ["100", "True"]


def test_a_checkout_is_found_by_name_with_both_folders_on_the_path(tmp_path: Path, spark_cache: Path) -> None:
    write_topic(tmp_path / "store", orders(10), queues=1)
    path = os.pathsep.join(map(str, (ROOT, ROOT / "broker_core" / "spark" / "by_name")))
    assert run(Path(sys.executable), READ_STORE, tmp_path, spark_cache, PYTHONPATH=path).split()[-2:] == ["10", "True"]
