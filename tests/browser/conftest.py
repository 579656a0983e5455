"""A Gantry and a Chromium for each module; a tab for each test, which fails when anything went wrong in it."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, StorageState

from tests.browser.chromium import EXECUTABLE, MISSING, chromium
from tests.browser.data import Data
from tests.browser.pages import Console, signed_in, tab
from tests.support.gantry import Gantry, Place


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A Chromium; its loop ends with the module, so that asynchronous tests of others can run."""
    if EXECUTABLE is None:
        pytest.skip(MISSING)
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def gantry(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gantry]:
    """A new, empty installation."""
    with Place.free(tmp_path_factory.mktemp("gantry") / "data").started() as running:
        yield running


@pytest.fixture(scope="module")
def http(gantry: Gantry) -> Iterator[httpx.Client]:
    """A client of its API."""
    with gantry.client() as client:
        yield client


@pytest.fixture(scope="module")
def data(http: httpx.Client) -> Data:
    """What puts topics and messages in."""
    return Data(http)


@pytest.fixture(scope="module")
def state(browser: Browser, gantry: Gantry) -> StorageState:
    """What a browser remembers of an admin who signed in."""
    return signed_in(browser, gantry)


@pytest.fixture
def stranger(browser: Browser, gantry: Gantry) -> Iterator[Console]:
    """A tab in which nobody is signed in."""
    with tab(browser, gantry) as console:
        yield console


@pytest.fixture
def console(browser: Browser, gantry: Gantry, state: StorageState) -> Iterator[Console]:
    """A tab in which the admin is signed in."""
    with tab(browser, gantry, state) as console:
        yield console
