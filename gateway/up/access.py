"""Access control of the own brokers: the account of the gateway, and the brokers' first account files."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from shutil import copyfile
from typing import Final

import yaml

from broker_core.protocol.signature import Credentials
from console.clusters.own_brokers import folder_of
from gateway.env import account
from gateway.up.config import UpConfig

ACCOUNT_FILE: Final = "tools.yml"
"""In the form of `mqadmin`'s file, so that it can sign with the same account."""
ACCOUNT_VARIABLE: Final = "GANTRY_ACL_ACCOUNT"
ACCESS_KEY: Final = "gantry-gateway"
REPLICAS_ACCESS_KEY: Final = "gantry-replicas"
"""With which replicas sign what they ask each other; its secret is in their account files alone."""
_CONFIG: Final = "config"
_ACCOUNTS: Final = "plain_acl.yml"
_MORE_ACCOUNTS: Final = "acl"


def prepare_accounts(config: UpConfig) -> Path:
    """Create what is missing, and return the file with the gateway's account.

    A broker gets an account file with this one administrator only if it has none: who edits it decides. Replicas get
    one of their own besides, and a further replica the files of an earlier one: any of them may become the master.
    """
    own = config.data / ACCOUNT_FILE
    if not own.exists():
        _write(own, {"accessKey": ACCESS_KEY, "secretKey": secrets.token_urlsafe(32)})
    found = _read(own)
    accounts = [_administrator(found.access_key, found.secret_key)]
    if config.replicas > 1:
        accounts.append(_administrator(REPLICAS_ACCESS_KEY, secrets.token_urlsafe(32)))
    folders = [folder_of(config.data, name) / _CONFIG for name in config.broker_ports]
    earlier = next(filter(_has_accounts, folders), None) if config.replicas > 1 else None
    for folder in folders:
        if _has_accounts(folder):
            continue
        if earlier is None:
            _write(folder / _ACCOUNTS, {"accounts": accounts})
        else:
            copy_accounts(earlier, folder)
    return own


def copy_accounts(of: Path, to: Path) -> None:
    """Give a broker that has none the account files of another, by the folders of their configuration."""
    for file in (of / _ACCOUNTS, *of.glob(f"{_MORE_ACCOUNTS}/*.yml")):
        if file.exists():
            copy = to / file.relative_to(of)
            copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            copy.touch(mode=0o600)
            copyfile(file, copy)


def broker_settings(config: UpConfig) -> dict[str, str]:
    """Return the settings of a broker's access control, which `prepare_accounts` has prepared if it is on.

    What `make up` has made it serves on this machine alone. An account that somebody else made for the gateway may have
    other users elsewhere. Off is said too: a broker that has saved the other would refuse a gateway that does not sign.
    """
    if not config.has_access_control:
        return {"aclEnable": "false"}
    own = _read(config.data / ACCOUNT_FILE).access_key
    settings = {
        "aclEnable": "true",
        "aclLocalAccounts": own,
        "aclLocalNetworks": ",".join(config.account_networks),
    }
    if config.replicas > 1:
        settings |= {"aclLocalAccounts": f"{own},{REPLICAS_ACCESS_KEY}", "aclReplicaAccount": REPLICAS_ACCESS_KEY}
    return settings


def _administrator(access_key: str, secret_key: str) -> dict[str, object]:
    return {"accessKey": access_key, "secretKey": secret_key, "admin": True}


def _has_accounts(folder: Path) -> bool:
    return (folder / _ACCOUNTS).exists() or (folder / _MORE_ACCOUNTS).is_dir()


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
