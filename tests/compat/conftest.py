"""The unmodified Java client, built once; where the machine has no Java compiler or Maven, one line says so."""

from __future__ import annotations

import pytest

from tests.compat import java_client


@pytest.fixture(scope="session", autouse=True)
def _java_client() -> None:
    missing = java_client.missing_tool()
    if missing is not None:
        pytest.skip(
            f"left out: the Java client's tests need a JDK with a compiler and Maven, and there is no {missing}"
        )
    java_client.build()
