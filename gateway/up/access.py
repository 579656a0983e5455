"""Access control of the own brokers: the account of the gateway, and the brokers' first account files."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Final

import yaml

from broker_core.protocol.signature import Credentials
from console.clusters.own_brokers import broker_names, folder_of
from gateway.env import account
from gateway.up.config import UpConfig

ACCOUNT_FILE: Final = "tools.yml"
"""In the form of `mqadmin`'s file, so that it can sign with the same account."""
ACCOUNT_VARIABLE: Final = "GANTRY_ACL_ACCOUNT"
ACCESS_KEY: Final = "gantry-gateway"
_ACCOUNTS: Final = Path("config") / "plain_acl.yml"


def prepare_accounts(config: UpConfig) -> Path:
    """Create what is missing, and return the file with the gateway's account.

    A broker gets an account file with this one administrator only if it has none: who edits it decides.
    """
    own = config.data / ACCOUNT_FILE
    if not own.exists():
        _write(own, {"accessKey": ACCESS_KEY, "secretKey": secrets.token_urlsafe(32)})
    found = _read(own)
    administrator = {"accessKey": found.access_key, "secretKey": found.secret_key, "admin": True}
    for name in broker_names(config.brokers):
        accounts = folder_of(config.data, name) / _ACCOUNTS
        if not accounts.exists() and not accounts.with_name("acl").is_dir():
            _write(accounts, {"accounts": [administrator]})
    return own


def broker_settings(config: UpConfig) -> dict[str, str]:
    """Return the settings of a broker's access control, which `prepare_accounts` has prepared if it is on.

    What `make up` has made it serves on this machine alone. An account that somebody else made for the gateway may have
    other users elsewhere. Off is said too: a broker that has saved the other would refuse a gateway that does not sign.
    """
    if not config.has_access_control:
        return {"aclEnable": "false"}
    return {
        "aclEnable": "true",
        "aclLocalAccounts": _read(config.data / ACCOUNT_FILE).access_key,
        "aclLocalNetworks": ",".join(config.account_networks),
    }


def _read(file: Path) -> Credentials:
    found = account(ACCOUNT_VARIABLE, environ={ACCOUNT_VARIABLE: str(file)})
    assert found is not None
    return found


def _write(path: Path, tree: object) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".tmp")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        yaml.safe_dump(tree, file, sort_keys=False)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
