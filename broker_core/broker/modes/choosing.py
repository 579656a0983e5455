"""Chooses the mode of a broker by its settings (broker/replication/README.md#modes)."""

from __future__ import annotations

from broker_core.broker.config import BrokerConfig
from broker_core.broker.modes.master import StaticMaster
from broker_core.broker.modes.mode import Around, Mode
from broker_core.broker.modes.replica import FailoverReplica
from broker_core.broker.modes.slave import StaticSlave
from broker_core.broker.replication.identity import WrongIdentity
from broker_core.broker.role import Role, RoleKind
from broker_core.store.layout import EPOCHS


def first_role(config: BrokerConfig) -> Role:
    """Return the role by the configuration; where controllers decide, none is known yet."""
    if config.failover.is_on:
        return Role(RoleKind.FENCED, config.identity.broker_id)
    return Role.of_id(config.identity.broker_id)


def mode_of(around: Around) -> Mode:
    """Return the mode, which does nothing until it runs.

    Raises WrongIdentity for the folder of a replica where none is wanted, or of another one, UsedElsewhere, Corrupt for
    epochs that cannot be read, StoreFull, OSError.
    """
    if around.settings.config.failover.is_on:
        return FailoverReplica(around)
    if (place := around.settings.config.store.folder / EPOCHS).exists():
        raise WrongIdentity(
            f"{place}: the store is that of a replica, and enableControllerMode is off; "
            f"to use it without controllers for good, see docs/replication.md#a-folder-that-another-broker-used"
        )
    return StaticMaster(around) if around.roles.now.is_master else StaticSlave(around)
