"""Reads and changes the settings of one broker, and reads them back: Apache RocketMQ ignores unknown names silently."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from broker_core.client.admin import Admin
from broker_core.errors import GantryError
from console.audit.record import Actor, record
from console.brokers.catalogue import CATALOGUE, KnownSetting, Product, product_of
from console.brokers.shapes import BrokerSetting, BrokerSettings, SettingChange, SettingsChanged, SettingsPreview
from console.clusters.connections import ask
from console.clusters.memory import remembered
from console.clusters.outcomes import not_listed
from console.clusters.reasons import reason_of
from console.errors import BrokersSilent, Fault, NotKnown, NotServed
from console.etags import etag
from console.pointers import escaped

_SECRET: Final = re.compile(r"password|passwd|secret|accesskey", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class BrokerName:
    """One process of a cluster; id 0 is the master of its name."""

    cluster: str
    name: str
    broker_id: int = 0


@dataclass(frozen=True, slots=True)
class Read:
    """The settings that a broker reported."""

    of: BrokerName
    address: str
    texts: Mapping[str, str]

    @property
    def product(self) -> Product:
        """Which broker it is."""
        return product_of(dict(self.texts))

    @property
    def tag(self) -> str:
        """The ETag of the settings."""
        return etag(dict(self.texts))


def read(of: BrokerName) -> Read:
    """Ask the broker.

    Raises NotKnown for one that was never seen, BrokersSilent if no name server lists it any more, or what the client
    raises.
    """
    try:
        address, texts = ask(of.cluster, lambda admin: _read(admin, of))
    except NotKnown:
        known = remembered(of.cluster).brokers.get(of.name)
        if known is None or of.broker_id not in known.addresses:
            raise
        raise BrokersSilent(f"The settings of {of.name} are not known: {not_listed(known)}.") from None
    return Read(of, address, texts)


def shown(found: Read) -> BrokerSettings:
    """Return the settings as the API shows them, by name."""
    rows = [_row(name, text, found.product) for name, text in sorted(found.texts.items())]
    return BrokerSettings(
        broker=found.of.name,
        broker_id=found.of.broker_id,
        address=found.address,
        product=found.product,
        settings=rows,
        etag=found.tag,
    )


def preview(found: Read, wanted: Mapping[str, str]) -> SettingsPreview:
    """Return what a change would do; raise NotServed with every setting that cannot be changed so."""
    checked = _checked(found, wanted)
    changes = [_change(found, name, text) for name, text in checked.items()]
    return SettingsPreview(broker=found.of.name, changes=changes, etag=found.tag)


def change(by: Actor, found: Read, wanted: Mapping[str, str]) -> SettingsChanged:
    """Change settings, read them back and record it; raise NotServed as `preview` does, or what the client raises."""
    checked = _checked(found, wanted)
    changing = {name: text for name, text in checked.items() if found.texts[name] != text}
    before = {name: found.texts[name] for name in changing}
    resource = f"{found.of.cluster}/brokers/{found.of.name}"
    after = found
    if changing:
        try:
            _, texts = ask(found.of.cluster, lambda admin: _sent(admin, found, changing))
        except GantryError as error:
            failed = {**changing, "error": reason_of(error, {found.address: found.of.name})}
            record(by, "broker.update", resource, result="failed", before=before, after=failed)
            raise
        after = Read(found.of, found.address, texts)
        kept = any(after.texts.get(name) != text for name, text in changing.items())
        now = {name: after.texts.get(name) for name in changing}
        record(by, "broker.update", resource, result="partial" if kept else "ok", before=before, after=now)
    changes = [_change(found, name, text, after.texts.get(name, "")) for name, text in checked.items()]
    undo = {each.name: each.before for each in changes if each.result == "changed"}
    plain = shown(after)
    return SettingsChanged(
        broker=plain.broker,
        broker_id=plain.broker_id,
        address=plain.address,
        product=plain.product,
        settings=plain.settings,
        etag=plain.etag,
        changes=changes,
        undo=undo,
    )


async def _read(admin: Admin, of: BrokerName) -> tuple[str, dict[str, str]]:
    listed = await admin.clusters.brokers()
    address = next((each.addr for each in listed if (each.name, each.broker_id) == (of.name, of.broker_id)), None)
    if address is None:
        known = ", ".join(f"{each.name} ({each.broker_id})" for each in listed) or "none"
        raise NotKnown(f"No name server lists a broker {of.name!r} with id {of.broker_id}; listed: {known}.")
    return address, await admin.maintenance.settings_of(address)


async def _sent(admin: Admin, found: Read, texts: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    await admin.maintenance.change_settings_of(found.address, texts)
    return found.address, await admin.maintenance.settings_of(found.address)


def _row(name: str, text: str, product: Product) -> BrokerSetting:
    known = CATALOGUE.get(name)
    effect = None if known is None else known.effect_on(product)
    return BrokerSetting(
        name=name,
        value=None if _SECRET.search(name) else text,
        default=None if known is None else known.default_on(product),
        unit=None if known is None else known.unit,
        accepts=None if known is None or effect is None else known.accepts.words,
        effect=effect,
        risk=None if known is None or effect is None else known.risk,
        fixed=None if effect else "fixed" if product == "gantry" else "not_known_safe",
    )


def _checked(found: Read, wanted: Mapping[str, str]) -> dict[str, str]:
    """Return the texts as the broker writes them."""
    faults: list[Fault] = []
    checked: dict[str, str] = {}
    for name, text in wanted.items():
        pointer = f"#/settings/{escaped(name)}"
        try:
            checked[name] = _changeable(found, name).accepts.check(text)
        except _Fixed as fixed:
            faults.append(Fault(pointer, "SETTING_FIXED", str(fixed)))
        except ValueError as error:
            faults.append(Fault(pointer, "INVALID", f"{name}: {error}."))
    if faults:
        raise NotServed(faults)
    return checked


class _Fixed(Exception):
    """A setting cannot be changed."""


def _changeable(found: Read, name: str) -> KnownSetting:
    """Return the known setting; raise _Fixed with the reason."""
    known = CATALOGUE.get(name)
    if name not in found.texts:
        raise _Fixed(f"{found.of.name} has no setting {name!r}; read its settings for the names that it has.")
    if known is None or known.effect_on(found.product) is None:
        where = "on its command line" if found.product == "gantry" else "in its configuration file, and restart it"
        raise _Fixed(f"{name!r} cannot be changed safely while {found.of.name} runs; set it {where}.")
    return known


def _change(found: Read, name: str, text: str, after: str | None = None) -> SettingChange:
    known, before = CATALOGUE[name], found.texts[name]
    effect = known.effect_on(found.product)
    if effect is None:
        raise ValueError(f"{name} was not checked")
    is_kept = after is not None and after != text
    return SettingChange(
        name=name,
        before=before,
        wanted=text,
        after=after,
        effect=effect,
        risk=known.risk,
        result="same" if before == text else "ignored" if is_kept else "changed",
    )
