"""Requirements of `console.accounts.usernames`."""

from __future__ import annotations

import pytest

from console.accounts.usernames import fault_of


@pytest.mark.parametrize(
    "name", ["admin", "mia.müller@example.org", "王伟", "wang王伟", "Ольга", "たなか太郎", "김민준", "x-1_2+3"]
)
def test_names_that_people_have(name: str) -> None:
    assert fault_of(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "\u0430dmin",  # the first letter is Cyrillic
        "adm\u0456n",
        "\u03bfps",  # Greek
        "\uff41dmin",  # of full width
        "admin\u0661",  # a digit that is not ASCII
        "\u212aarl",  # the sign for kelvin
        "ad\u200dmin",  # joined by nothing
    ],
)  # fmt: skip
def test_names_that_look_like_others(name: str) -> None:
    assert fault_of(name) is not None
