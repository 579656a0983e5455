"""Any request of the API, for what has no command of its own."""

from __future__ import annotations

from typing import IO

import click
import msgspec

from gateway.cli.exact import decode
from gateway.cli.root import Session, gantry, pass_session


@gantry.command()
@click.argument("method", type=click.Choice(["GET", "POST", "PATCH", "PUT", "DELETE"], case_sensitive=False))
@click.argument("path")
@click.option("--data", type=click.File("rb"), help="A file with the JSON body; - for stdin.")
@click.option("--if-match", help="The entity tag that a change is of.")
@pass_session
def api(session: Session, method: str, path: str, data: IO[bytes] | None, if_match: str | None) -> None:
    """Send any request of the HTTP API and print the answer.

    PATH begins with a slash (/jobs, /users), or is below the cluster (topics/orders).
    """
    try:
        body = None if data is None else msgspec.Raw(data.read())
        if body is not None:
            msgspec.json.decode(body)
    except msgspec.DecodeError as error:
        raise click.BadParameter(f"is not JSON: {error}", param_hint="--data") from error
    headers = {"If-Match": if_match} if if_match else None
    answer = session.api.call(method.upper(), path, body=body, headers=headers)
    if answer.headers.get("content-type", "").startswith("application/json"):
        session.out.json(decode(answer.content))
    elif answer.content:
        click.echo(answer.text)
