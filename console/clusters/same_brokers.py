"""Which clusters of the console have the same brokers: what is listed in both is there once, and counted twice."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct

from console.clusters.models import KnownBroker


class SameBrokers(Struct, frozen=True, kw_only=True):
    """Another cluster of the console, and the addresses of brokers that both have."""

    cluster: str
    addresses: list[str]


def known_addresses() -> dict[str, set[str]]:
    """Return the addresses of the brokers that were seen in each cluster."""
    found: dict[str, set[str]] = {}
    for cluster, addresses in KnownBroker.objects.values_list("cluster__name", "addresses"):
        found.setdefault(cluster, set()).update(addresses.values())
    return found


def same_brokers(
    addresses: Collection[str], known: Mapping[str, Collection[str]], *, but: str | None = None
) -> list[SameBrokers]:
    """Return the clusters that have brokers at some of these addresses, by name, without the cluster `but`."""
    both = {cluster: sorted(set(addresses) & set(others)) for cluster, others in known.items() if cluster != but}
    return [SameBrokers(cluster=name, addresses=found) for name, found in sorted(both.items()) if found]
