"""One story through every process of `make up`, run twice: on a new installation and after a restart."""

from __future__ import annotations

import pytest

from tests.support.gantry import Place
from tests.support.story import MESSAGES, Story

pytestmark = [pytest.mark.scenario, pytest.mark.spark, pytest.mark.timeout(900)]

# What was proved at length on the new installation needs fewer after the restart.
MESSAGES_AGAIN = 1_000


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place.free(tmp_path_factory.mktemp("gantry") / "data")


def test_the_main_job_from_end_to_end_and_again_after_a_restart(place: Place) -> None:
    with place.started() as gantry, gantry.client() as http:
        first = Story(http, gantry.live_url, "orders")
        first.run()
    assert gantry.process.returncode == 0, gantry.output
    with place.started() as gantry, gantry.client() as http:
        refusals = [line for line in gantry.lines if "django.request" in line]
        assert not refusals, "a start asks for nothing that is refused"
        # Everything from the first run is still there
        again = Story(http, gantry.live_url, "orders")
        assert again.stored("orders") == MESSAGES + 1 + 3
        assert again.found("orders", "orders-471")
        assert again.lag("orders-billing") == 3  # the last messages that were sent
        assert {job["state"] for job in http.get("/jobs").json()["items"]} == {"succeeded"}
        # And the whole story can run again
        Story(http, gantry.live_url, "payments", messages=MESSAGES_AGAIN).run()
