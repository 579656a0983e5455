"""A database for each test, one Redis for all, and a known cast."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django import Settings
from rest_framework.test import APIClient

from tests.support.cast import PASSWORD, Cast
from tests.support.cluster import RunningBroker, started_broker
from tests.support.redis import redis_server


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """A Redis."""
    with redis_server() as url:
        yield url


@pytest.fixture(scope="session")
def shared_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A name server and a broker; each test uses its own topics and groups."""
    with started_broker(tmp_path_factory.mktemp("broker")) as running:
        yield running


@pytest.fixture
def redis_of_test(redis_url: str, settings: Settings) -> str:
    """Let everything in this process use the Redis of the tests."""
    settings.GANTRY_REDIS_URL = redis_url
    settings.CACHES = {**settings.CACHES, "default": {**settings.CACHES["default"], "LOCATION": redis_url}}
    layer = settings.CHANNEL_LAYERS["default"]
    settings.CHANNEL_LAYERS = {
        "default": {**layer, "CONFIG": {**layer["CONFIG"], "hosts": [{"address": redis_url, "socket_timeout": 30}]}}
    }
    return redis_url


@pytest.fixture
def cast(db: None, redis_of_test: str, settings: Settings) -> Cast:
    """An admin, an operator, a developer and a viewer; a stranger is not signed in."""
    # The real hasher is slow on purpose.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    return Cast.assembled()


@pytest.fixture
def stranger(db: None, redis_of_test: str) -> Any:
    """A browser without a session."""
    return APIClient()


__all__ = ["PASSWORD"]
