"""`python -m gateway.demo [fill|clean]`: the newcomer's first minute with something to look at."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import time
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

from broker_core.client import ClientConfig, Credentials, Producer, Session
from broker_core.errors import GantryError
from gateway import env
from gateway.cli.api import Api, Refused, Unreachable, default_token, default_url, part
from gateway.demo.consumers import native_consumers, settle_payments
from gateway.demo.messages import Shop
from gateway.demo.patience import Patience
from gateway.demo.setting_up import create_names, create_work, remove_all
from gateway.demo.traffic import Traffic
from gateway.own_tls import own_tls

_ACCOUNT = "GANTRY_ACL_ACCOUNT"
_SECONDS_OF_A_YEAR = 31_536_000


def main() -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m gateway.demo", description=__doc__)
    parser.add_argument("action", nargs="?", choices=["fill", "clean"], default="fill")
    parser.add_argument("--url", default=default_url())
    parser.add_argument("--token", default=default_token())
    parser.add_argument("--cluster", default="local")
    wanted = parser.parse_args()
    api = Api(wanted.url, wanted.token, wanted.cluster)
    try:
        if wanted.action == "clean":
            return 0 if remove_all(api, say) else 1
        asyncio.run(_fill(api, wanted.cluster, wanted.url))
    except (Refused, Unreachable, GantryError) as error:
        print(f"The demo ends: {error}", file=sys.stderr)
        return 1
    finally:
        api.close()
    return 0


def _account() -> Credentials | None:
    """Return the account where access control is on: that of the variable, or the one in the data folder."""
    given = {_ACCOUNT: env.text(_ACCOUNT)}
    own = Path(env.text("GANTRY_DATA_DIR", "data")) / "tools.yml"
    if not given[_ACCOUNT] and own.exists():
        given[_ACCOUNT] = str(own)
    return env.account(_ACCOUNT, environ=given)


def say(sentence: str) -> None:
    """Tell the user what was done."""
    print(sentence, flush=True)


async def _fill(api: Api, cluster: str, url: str) -> None:
    """Create everything, then send and consume until Ctrl-C."""
    stopped = asyncio.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, stopped.set)
    new = await asyncio.to_thread(create_names, api, say)
    found = await asyncio.to_thread(api.get, f"/clusters/{part(cluster)}")
    async with AsyncExitStack() as stack:
        config = ClientConfig(found["name_servers"], credentials=_account(), tls=own_tls().client)
        session = await stack.enter_async_context(Session(config))
        producer = await stack.enter_async_context(Producer(session, "demo-shop"))
        traffic = Traffic(api, producer, Shop(int(time.time()) % _SECONDS_OF_A_YEAR))
        await traffic.fill(new)
        for consumer in native_consumers(session, traffic.new_clicks):
            await stack.enter_async_context(consumer)
        await asyncio.to_thread(create_work, api, cluster, say)
        say(f"Look at {url}; Ctrl-C ends the traffic, and `make demo ACTION=clean` removes everything.")
        patience = Patience(say)
        settle = partial(settle_payments, api, say)
        await _until(stopped, patience.repeat("traffic", traffic.go_on), patience.repeat("payments", settle))
    say("The traffic has ended.")


async def _until(stopped: asyncio.Event, *endless: Coroutine[Any, Any, None]) -> None:
    """Run until the event; raise what one of them raises. One that ends leaves the others running."""
    running = [asyncio.create_task(each) for each in endless]
    waiting = asyncio.create_task(stopped.wait())
    try:
        while not waiting.done():
            going = [task for task in running if not task.done()]
            done, _ = await asyncio.wait([waiting, *going], return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
    finally:
        for each in (waiting, *running):
            each.cancel()
        await asyncio.gather(waiting, *running, return_exceptions=True)


if __name__ == "__main__":
    sys.exit(main())
