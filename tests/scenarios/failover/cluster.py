"""A group of replicas of one broker name with its name servers, every link of theirs through a relay.

::

    with static_group(tmp_path) as group:                 # SYNC_MASTER and a slave
        group.between(group.master, group.slave).stall()

A replica listens on 127.0.0.1 and announces 127.0.0.2, where the relays listen on the same ports; a connection over
them belongs to the link of the process that holds its other end. To each name server a replica has a relay of its own.
Clients of the test reach name servers directly, and replicas over the link of nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from broker_core.client.config import ClientConfig
from tests.scenarios.failover.nodes import Node
from tests.support.etcd import Etcd
from tests.support.ports import free_ports
from tests.support.relay import ANYBODY, Address, Link, Network, Relay, Way, relays
from tests.support.socket_owners import owner_of

BROKER_NAME: Final = "b"
CLUSTER: Final = "failover"
HERE: Final = "127.0.0.1"
ANNOUNCED: Final = "127.0.0.2"
SEGMENT_BYTES: Final = 4 * 1024 * 1024
_PORTS: Final = (-2, 0, 1)
"""Fast port, main port and the port for slaves, from the main port."""
# Small files, and a name server that hears of changes soon.
_SETTINGS: Final = {
    "mappedFileSizeCommitLog": str(SEGMENT_BYTES),
    "mappedFileSizeConsumeQueue": str(20 * 10_000),
    "maxHashSlotNum": "10000",
    "maxIndexNum": "40000",
    "diskFreeBytes": "0",
    "diskSpaceCleanForciblyRatio": "99",
    "diskSpaceWarningLevelRatio": "99",
    "registerNameServerPeriod": "10000",
}


@dataclass(frozen=True)
class Wires:
    """Directed links that are changed together. `ways` are those of bytes that go from the first side."""

    links: Sequence[Link]
    ways: Mapping[int, Way]
    """By the place of a link, which way leaves the first side."""

    def heal(self) -> None:
        """Pass everything on."""
        for link in self.links:
            link.heal()

    def cut(self) -> None:
        """Reset everything, and what comes."""
        for link in self.links:
            link.cut()

    def stall(self) -> None:
        """Let nothing pass, while all seems open."""
        for link in self.links:
            link.stall()

    def stall_from_first(self) -> None:
        """Let nothing pass that the first side says; it hears the other."""
        for place, link in enumerate(self.links):
            link.stall(self.ways[place])

    def slow(self, bytes_a_second: int) -> None:
        """Let so many bytes pass over each link."""
        for link in self.links:
            link.slow(bytes_a_second)


@dataclass
class Replica:
    """One broker process and where it is."""

    node: Node
    port: int
    store: Path

    @property
    def name(self) -> str:
        """Its name among the links."""
        return self.node.name

    @property
    def address(self) -> str:
        """``host:port`` that it announces, which leads over the relays."""
        return f"{ANNOUNCED}:{self.port}"


@dataclass
class Group:
    """All processes and links of one broker name."""

    folder: Path
    network: Network
    name_servers: list[Node] = field(default_factory=list)
    name_server_ports: list[int] = field(default_factory=list)
    replicas: list[Replica] = field(default_factory=list)
    _to_name_servers: dict[tuple[str, str], Relay] = field(default_factory=dict)
    _to_etcd: dict[str, list[Relay]] = field(default_factory=dict)

    @property
    def master(self) -> Replica:
        """The first replica: of a static group it is the master."""
        return self.replicas[0]

    @property
    def slave(self) -> Replica:
        """The second replica."""
        return self.replicas[1]

    @property
    def nodes(self) -> list[Node]:
        """Every process."""
        return [*self.name_servers, *(replica.node for replica in self.replicas)]

    @property
    def name_server_addresses(self) -> list[str]:
        """Where clients of the test find the name servers."""
        return [f"{HERE}:{port}" for port in self.name_server_ports]

    def config(self) -> ClientConfig:
        """Return how a client of the test reaches the group; it learns of a change of master within a second."""
        return ClientConfig(self.name_server_addresses, route_refresh_ms=500, heartbeat_ms=1_000)

    def add_name_server(self, settings: Mapping[str, str]) -> Node:
        """Add a name server that is not started."""
        number, port = len(self.name_servers) + 1, free_ports()
        folder = self.folder / f"namesrv-{number}"
        folder.mkdir(parents=True)
        file = folder / "namesrv.properties"
        file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        arguments = (
            "-c", str(file), "--bind", HERE, "--port", str(port), "--settings-file", str(folder / "kvConfig.json"),
        )  # fmt: skip
        node = Node(f"namesrv-{number}", folder, "broker_core.namesrv", arguments)
        self.name_servers.append(node)
        self.name_server_ports.append(port)
        return node

    def add_controller(self, engine: Etcd | None = None) -> Node:
        """Add a name server with a controller, whose decisions are kept in a file, or in an etcd."""
        name = f"namesrv-{len(self.name_servers) + 1}"
        settings = {
            "enableControllerInNamesrv": "true",
            "controllerClusterName": CLUSTER,
            "controllerStorePath": str(self.folder / "controller" / name),
        }
        if engine is not None:
            relays = self._to_etcd[name] = [self.network.relay((HERE, each.client_port)) for each in engine.members]
            settings["controllerEtcdEndpoints"] = ";".join(f"http://{relay.address}" for relay in relays)
        return self.add_name_server(settings)

    def add_replica(
        self, settings: Callable[[str], Mapping[str, str]], arguments: Sequence[str] = (), *, store: Path | None = None
    ) -> Replica:
        """Add a replica that is not started. `settings` are told the addresses of the name servers as it sees them."""
        number, port = len(self.replicas) + 1, free_ports(4) + 2
        name = f"replica-{number}"
        folder = self.folder / name
        name_servers = ";".join(self._name_server_relay(name, place) for place in range(len(self.name_servers)))
        chosen = _SETTINGS | dict(settings(name_servers))
        words = [word for key, value in chosen.items() for word in ("--setting", f"{key}={value}")]
        replica = Replica(
            Node(
                name, folder, "broker_core",
                (
                    "--data-dir", str(folder), "--bind", HERE, "--advertise", ANNOUNCED,
                    "--namesrv", name_servers, "--broker-port", str(port),
                    "--broker-name", BROKER_NAME, "--cluster", CLUSTER,
                    *(("--store", str(store)) if store else ()), *words, *arguments,
                ),
            ),
            port,
            store or folder / "broker",
        )  # fmt: skip
        for above in _PORTS:
            relay = self.network.relay(
                (HERE, port + above), listen=(ANNOUNCED, port + above), source_of=self._source_of
            )
            relay.down()
            replica.node.relays.append(relay)
        self.replicas.append(replica)
        return replica

    def start(self) -> None:
        """Start everything that does not run."""
        for node in self.nodes:
            if not node.is_running:
                node.start()

    def between(self, one: Replica | Node, other: Replica | Node) -> Wires:
        """Return the links between two processes, whoever of them connects."""
        return self._wires([*self._links(one, other, Way.THERE), *self._links(other, one, Way.BACK)])

    def around(self, one: Replica | Node, *, with_clients: bool = False) -> Wires:
        """Return the links between a process and all others, and clients of the test if so wanted."""
        links: list[tuple[Link, Way]] = []
        others: list[Replica | Node] = [*self.replicas, *self.name_servers]
        for other in others:
            if other is not one:
                links += [*self._links(one, other, Way.THERE), *self._links(other, one, Way.BACK)]
        if with_clients and isinstance(one, Replica):
            links += [(relay.link_of(ANYBODY), Way.BACK) for relay in one.node.relays]
        return self._wires(links)

    def to_etcd(self, controller: Node) -> Wires:
        """Return the links between a controller and all members of its etcd."""
        return self._wires([(relay.link, Way.THERE) for relay in self._to_etcd[controller.name]])

    def heal(self) -> None:
        """Heal every link that there is."""
        for relay in self.network.relays:
            for link in relay.links.values():
                link.heal()

    def last_lines(self) -> str:
        """Return what all processes said last."""
        return "\n".join(node.last_lines() for node in self.nodes)

    def close(self) -> None:
        """End all processes at once."""
        for node in reversed(self.nodes):
            node.kill()

    def _links(self, source: Replica | Node, target: Replica | Node, way: Way) -> list[tuple[Link, Way]]:
        """Return the links over which `source` connects to `target`, with the way that `way` names for callers."""
        if isinstance(target, Replica):
            return [(relay.link_of(source.name), way) for relay in target.node.relays]
        relay = self._to_name_servers.get((source.name, target.name))
        return [(relay.link, way)] if relay is not None else []

    def _wires(self, links: Sequence[tuple[Link, Way]]) -> Wires:
        return Wires([link for link, _ in links], {place: way for place, (_, way) in enumerate(links)})

    def _name_server_relay(self, replica: str, place: int) -> str:
        node = self.name_servers[place]
        relay = self.network.relay((HERE, self.name_server_ports[place]))
        self._to_name_servers[replica, node.name] = relay
        return relay.address

    def _source_of(self, theirs: Address, ours: Address) -> str:
        pids = {node.pids[-1]: node.name for node in self.nodes if node.pids}
        owner = owner_of(theirs, ours, pids)
        return ANYBODY if owner is None else pids[owner]


@contextmanager
def group_in(folder: Path) -> Iterator[Group]:
    """Have an empty group until the block ends; an error is told with what all processes said last."""
    with relays() as network:
        group = Group(folder, network)
        try:
            yield group
        except BaseException as error:
            error.add_note(group.last_lines())
            raise
        finally:
            group.close()


@contextmanager
def static_group(folder: Path, *, name_servers: int = 1, **settings: str) -> Iterator[Group]:
    """Have a SYNC_MASTER with one slave until the block ends; all are started."""
    with group_in(folder) as group:
        for _ in range(name_servers):
            group.add_name_server({})
        group.add_replica(lambda _: settings, ("--role", "sync-master"))
        group.add_replica(lambda _: settings, ("--role", "slave", "--broker-id", "1"))
        group.start()
        yield group


@contextmanager
def failover_group(
    folder: Path,
    *,
    replicas: int = 3,
    min_in_sync: int = 2,
    engine: Etcd | None = None,
    first_store: Path | None = None,
    **settings: str,
) -> Iterator[Group]:
    """Have replicas with controllers until the block ends; all are started.

    There is one controller, which keeps its decisions in a file, or three if there is an etcd. The store of the first
    replica may lie elsewhere.
    """
    with group_in(folder) as group:
        for _ in range(1 if engine is None else 3):
            group.add_controller(engine)
        group.start()
        for number in range(replicas):
            group.add_replica(
                lambda name_servers: {
                    "enableControllerMode": "true",
                    "controllerAddr": name_servers,
                    "minInSyncReplicas": str(min_in_sync),
                    **settings,
                },
                store=first_store if number == 0 else None,
            )
        group.start()
        yield group
