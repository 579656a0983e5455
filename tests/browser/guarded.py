"""A broker with access control, whose cluster is in the console."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx

from tests.support.cluster import RunningBroker, started_broker
from tests.support.wait import wait_until

GUARDED: Final = "guarded"
SIGNED_WITH: Final = {"access_key": "gantry-itself", "secret_key": "secret-of-gantry"}


@contextmanager
def guarded_cluster(http: httpx.Client, data: Path) -> Iterator[RunningBroker]:
    """Run the broker with the account that the console signs with; the cluster leaves the console at the end."""
    file = data / "broker" / "config" / "plain_acl.yml"
    file.parent.mkdir(parents=True)
    known = f"accessKey: {SIGNED_WITH['access_key']}, secretKey: {SIGNED_WITH['secret_key']}, admin: true"
    file.write_text(f"accounts: [{{{known}}}]\n")
    with started_broker(data, settings={"aclEnable": "true"}) as running:
        body = {"name": GUARDED, "name_servers": [running.name_server], **SIGNED_WITH}
        http.post("/clusters", json=body).raise_for_status()
        try:
            wait_until(lambda: http.get(f"/clusters/{GUARDED}").json()["reachable"] is True)
            yield running
        finally:
            http.delete(f"/clusters/{GUARDED}", headers={"If-Match": "*"}).raise_for_status()
