"""One Gantry and one Chromium for all modules; a tab for each test, which fails when anything went wrong in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.browser.chromium import EXECUTABLE, MISSING, chromium
from tests.browser.data import Data
from tests.browser.guarded import guarded_cluster
from tests.browser.pages import Console, signed_in, tab, window
from tests.support.cluster import RunningBroker
from tests.support.gantry import Gantry, Place

# The receiver of an alert's webhook is this process.
_SETTINGS: Final = {"GANTRY_WEBHOOK_NETWORKS": "127.0.0.0/8"}


# The first needs an empty installation, the second reads all words of its pages: data of other tests are no words.
_FIRST: Final = ("test_console.py", "test_chinese.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the modules that share an installation run in the order that they need."""
    mine = [item for item in items if item.path.parent == Path(__file__).parent]
    ordered = iter(sorted(mine, key=_place))
    items[:] = [next(ordered) if item.path.parent == Path(__file__).parent else item for item in items]


def _place(item: pytest.Item) -> int:
    return _FIRST.index(item.path.name) if item.path.name in _FIRST else len(_FIRST)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """A Chromium; its loop ends with this folder, so that asynchronous tests of others can run."""
    if EXECUTABLE is None:
        pytest.skip(MISSING)
    with chromium() as running:
        yield running


@pytest.fixture(scope="package")
def job_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder whose files jobs may read."""
    return tmp_path_factory.mktemp("job-files")


@pytest.fixture(scope="package")
def gantry(browser: Browser, job_files: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gantry]:
    """A new, empty installation."""
    settings = _SETTINGS | {"GANTRY_JOBS_FILES": str(job_files)}
    with Place.free(tmp_path_factory.mktemp("gantry") / "data").started(**settings) as running:
        yield running


@pytest.fixture(scope="package")
def http(gantry: Gantry) -> Iterator[httpx.Client]:
    """A client of its API."""
    with gantry.client() as client:
        yield client


@pytest.fixture(scope="package")
def data(http: httpx.Client) -> Data:
    """What puts topics and messages in."""
    return Data(http)


@pytest.fixture(scope="module")
def guarded(http: httpx.Client, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A broker with access control, and its cluster in the console while a module runs."""
    with guarded_cluster(http, tmp_path_factory.mktemp("guarded")) as running:
        yield running


@pytest.fixture(scope="package")
def admin_window(browser: Browser, gantry: Gantry) -> Iterator[BrowserContext]:
    """A window in which the admin is signed in."""
    with window(browser, signed_in(browser, gantry)) as context:
        yield context


@pytest.fixture
def stranger(browser: Browser, gantry: Gantry) -> Iterator[Console]:
    """A tab in which nobody is signed in."""
    with window(browser) as context, tab(context, gantry) as console:
        yield console


@pytest.fixture
def console(admin_window: BrowserContext, gantry: Gantry) -> Iterator[Console]:
    """A tab in which the admin is signed in."""
    with tab(admin_window, gantry) as console:
        yield console
