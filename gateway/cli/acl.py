"""Commands on the accounts of brokers with access control."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TextIO, TypeVar

import click

from gateway.cli.api import Json, part
from gateway.cli.root import Session, gantry, pass_session

F = TypeVar("F", bound=Callable[..., Any])

RIGHTS: Final = ["DENY", "PUB", "SUB", "PUB|SUB"]
_COLUMNS: Final = [
    "access_key",
    "admin",
    "default_topic_permission",
    "default_group_permission",
    "topic_permissions",
    "group_permissions",
    "white_address",
    "missing_on",
    "differs_on",
    "secret_differs_on",
    "unknown_on",
]


class _NamedRight(click.ParamType[tuple[str, str]]):
    name = "name=right"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Return name and right."""
        name, separator, right = str(value).partition("=")
        if not separator or not name or right not in RIGHTS:
            self.fail(f"{value!r} is not NAME=RIGHT, where RIGHT is {', '.join(RIGHTS)}", param, ctx)
        return name, right


def _rights(command: F) -> F:
    """Add the options that say what an account may do."""
    right = click.Choice(RIGHTS)
    for option in (
        click.option("--secret-file", type=click.File(), help="The secret key; - reads stdin. By default one is made."),
        click.option("--white-address", help="From here the account needs no signature; '' for nowhere."),
        click.option("--group", "groups", type=_NamedRight(), multiple=True, help="NAME=RIGHT of a consumer group."),
        click.option("--topic", "topics", type=_NamedRight(), multiple=True, help="NAME=RIGHT of a topic."),
        click.option("--default-group", type=right, help="The right for groups that are not named."),
        click.option("--default-topic", type=right, help="The right for topics that are not named."),
    ):
        command = option(command)
    return command


@gantry.group()
def acl() -> None:
    """List and change accounts of brokers with access control, and addresses that need none."""


@acl.command("list")
@pass_session
def list_accounts(session: Session) -> None:
    """List the accounts; exit code 1 if a broker does not tell its accounts, which stderr says."""
    found = session.api.get("accounts")
    session.out.rows(found["items"], _COLUMNS)
    silent = [each for each in found["brokers"] if each["state"] != "on"]
    for each in silent:
        click.echo(f"gantry: {each['broker']}: {each['reason']}", err=True)
    if found["differ"]:
        click.echo("gantry: the brokers differ: see MISSING ON and DIFFERS ON, and `gantry acl brokers`", err=True)
    if silent:
        raise SystemExit(1)


@acl.command()
@pass_session
def brokers(session: Session) -> None:
    """List the brokers: whether access control is on, and the versions of their account files."""
    session.out.rows(session.api.get("accounts")["brokers"], ["broker", "address", "state", "files", "reason"])


@acl.command()
@click.argument("access_key")
@pass_session
def show(session: Session, access_key: str) -> None:
    """Show one account, without its secret."""
    session.out.one(session.api.get(f"accounts/{part(access_key)}"))


@acl.command()
@click.argument("access_key")
@click.option("--admin", is_flag=True, help="It may change brokers and, without named rights, do everything.")
@_rights
@pass_session
def create(session: Session, /, access_key: str, admin: bool, **given: Any) -> None:
    """Create an account on every broker. A secret that is made is printed once."""
    body = {"access_key": access_key, "admin": admin, **_given(**given)}
    for name, pairs in (("topic_permissions", given["topics"]), ("group_permissions", given["groups"])):
        if pairs:
            body[name] = dict(pairs)
    _done(session, session.api.post("accounts", body), f"Account {access_key} was created.")


@acl.command()
@click.argument("access_key")
@click.option("--admin/--no-admin", default=None, help="Whether it may change brokers.")
@click.option("--without-topic", multiple=True, help="Name no right of this topic any more.")
@click.option("--without-group", multiple=True, help="Name no right of this group any more.")
@click.option("--new-secret", is_flag=True, help="Make another secret; the old one stops working at once.")
@_rights
@pass_session
def update(
    session: Session,
    /,
    access_key: str,
    admin: bool | None,
    without_topic: Sequence[str],
    without_group: Sequence[str],
    new_secret: bool,
    **given: Any,
) -> None:
    """Change an account, so that it is the same on every broker; what is not given stays."""
    path = f"accounts/{part(access_key)}"
    present = session.api.get(path)
    body: dict[str, Any] = _given(**given) | ({} if admin is None else {"admin": admin})
    if new_secret:
        body["new_secret"] = True
    for name, pairs, without in (
        ("topic_permissions", given["topics"], without_topic),
        ("group_permissions", given["groups"], without_group),
    ):
        if pairs or without:
            named = {**present[name], **dict(pairs)}
            body[name] = {each: right for each, right in named.items() if each not in without}
    answer = session.api.call("PATCH", path, body=body, headers={"If-Match": present["etag"]})
    _done(session, answer.json(), f"Account {access_key} was changed.")


@acl.command()
@click.argument("access_key")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_session
def delete(session: Session, access_key: str, yes: bool) -> None:
    """Delete an account on every broker: whoever signs with it is refused at once."""
    if not yes:
        click.confirm(f"Delete account {access_key}, and refuse whoever signs with it?", abort=True, err=True)
    answer = session.api.change("DELETE", f"accounts/{part(access_key)}")
    session.out.done(answer, f"Account {access_key} was deleted.")


@acl.command()
@click.option("--set", "patterns", multiple=True, help="Replace them by this one; may be given several times.")
@click.option("--clear", is_flag=True, help="Remove all.")
@pass_session
def addresses(session: Session, patterns: Sequence[str], clear: bool) -> None:
    """List the addresses from which brokers serve everybody, or replace them."""
    if patterns and clear:
        raise click.UsageError("Give either --set or --clear.")
    if not patterns and not clear:
        session.out.one(session.api.get("global-addresses"))
        return
    answer = session.api.change("PUT", "global-addresses", {"global_white_addresses": list(patterns)})
    session.out.done(answer, "Nobody is served without an account." if clear else f"Set: {', '.join(patterns)}.")


def _given(
    *,
    secret_file: TextIO | None,
    white_address: str | None,
    default_topic: str | None,
    default_group: str | None,
    topics: Sequence[tuple[str, str]],
    groups: Sequence[tuple[str, str]],
) -> dict[str, Any]:
    """Return the fields that were given, but for the named rights, which a change merges."""
    fields = {
        "secret_key": None if secret_file is None else secret_file.read().rstrip("\r\n"),
        "white_address": white_address,
        "default_topic_permission": default_topic,
        "default_group_permission": default_group,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _done(session: Session, answer: Json, sentence: str) -> None:
    """Print the outcome; a secret first, since it is never shown again, even if a broker failed."""
    if answer["secret_key"] and not session.out.is_json:
        click.echo(f"secret key, shown only now: {answer['secret_key']}")
    session.out.done(answer, sentence)
