"""How jobs read all of a topic: from files of this machine, if these are all that there is, else over the wire."""

from __future__ import annotations

from broker_core.client.admin import Admin
from broker_core.client.errors import TopicNotFound
from broker_core.spark.errors import BadRequest
from broker_core.spark.masters import check_master, driver_host, is_local, shown
from broker_core.spark.options import SourceOptions
from broker_core.spark.programs.requests import ProgramRequest, SourcePlace, place_of
from broker_core.spark.wire import session_of, translated


def whole_topic(request: ProgramRequest, topic: str, cluster: str | None = None) -> SourceOptions:
    """Return how to read all of a topic: from files that Spark can see, otherwise over the wire."""
    place, master = place_of(request, cluster), request.spark.master
    check_master(master)
    stores = place.stores
    if stores and is_local(master) and not _is_elsewhere(topic, place):
        return SourceOptions(topics=(topic,), stores=tuple(stores.values()), brokers=tuple(stores))
    servers = place.name_servers
    if not servers:
        raise BadRequest("the request names neither a store that Spark can see nor a name server")
    if not is_local(master) and not _is_loopback(driver_host(master, request.spark.conf())):
        for server in servers:
            if _is_loopback(server.rpartition(":")[0]):
                raise BadRequest(
                    f"the executors of {shown(master)} cannot reach the name server {server}, which is an address of "
                    "this machine only; use one that they can reach, and have the brokers announce such addresses too"
                )
    return SourceOptions(topics=(topic,), name_servers=servers, account=place.account, tls=place.tls)


def _is_elsewhere(topic: str, place: SourcePlace) -> bool:
    """Return whether a broker without a folder here has messages of a topic; raise Unreachable."""
    if not place.name_servers:
        return False
    session = session_of(place.wire_place)
    with translated():
        return not session.run(_brokers_with(session.admin, topic)) <= place.stores.keys()


async def _brokers_with(admin: Admin, topic: str) -> set[str]:
    try:
        return {queue.broker_name for queue in (await admin.topics.route(topic)).read_queues}
    except TopicNotFound:
        # Files may have what no broker has told the name server of yet.
        return set()


def _is_loopback(host: str) -> bool:
    return host == "localhost" or host.startswith("127.") or host.strip("[]") == "::1"
