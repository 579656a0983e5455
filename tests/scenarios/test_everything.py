"""One story through every process of `make up`: on a new installation, and after a restart with access control."""

from __future__ import annotations

import asyncio

import pytest

from broker_core.client import AccessDenied, ClientConfig, Message, Producer, Session
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
    # Access control is switched on with the restart: every process signs from now on.
    with place.started(GANTRY_ACL="on") as gantry, gantry.client() as http:
        with pytest.raises(AccessDenied, match="No accessKey is configured"):
            asyncio.run(_send_unsigned(gantry.name_server))
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


async def _send_unsigned(name_server: str) -> None:
    async with Session(ClientConfig([name_server])) as session, Producer(session, "strangers") as producer:
        await producer.send(Message.create("orders", b"from a stranger"))
