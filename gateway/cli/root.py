"""The root command: where the gateway is, who asks, and how answers are printed."""

from __future__ import annotations

import re
from dataclasses import dataclass

import click

from gateway.cli.api import Api, default_token, default_url
from gateway.cli.output import Output


@dataclass(frozen=True)
class Session:
    """What all commands of one run share."""

    api: Api
    out: Output


pass_session = click.make_pass_decorator(Session)


class _Root(click.Group):
    """Takes ``--json`` anywhere on the line, as everybody writes it at its end."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Move it to the front."""
        own, rest = (args[: args.index("--")], args[args.index("--") :]) if "--" in args else (args, [])
        if "--json" in own:
            own = ["--json", *(word for word in own if word != "--json")]
        return super().parse_args(ctx, own + rest)


@click.group(cls=_Root, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--url", envvar="GANTRY_URL", help="The gateway; by default the one that `make up` starts here.")
@click.option("--token", envvar="GANTRY_TOKEN", help="By default the one in the data folder of `make up`.")
@click.option("--cluster", envvar="GANTRY_CLUSTER", default="local", show_default=True, help="Name in the console.")
@click.option("--json", "is_json", is_flag=True, help="Print JSON, a line for each item, as the API gives it.")
@click.version_option("0.1.0", prog_name="gantry")
@click.pass_context
def gantry(context: click.Context, url: str | None, token: str | None, cluster: str, is_json: bool) -> None:
    """Work with a Gantry from scripts and the shell, over its HTTP API.

    Errors are told on stderr. Exit code 1: refused or not wholly done, 2: wrongly written, 3: no gateway answers,
    130: Ctrl-C.
    """
    place = url or default_url()
    if not re.fullmatch(r"https?://[^/?#\s]+(/[^?#\s]*)?", place):
        raise click.BadParameter(f"{place!r} is not an address such as http://127.0.0.1:8000", param_hint="--url")
    api = Api(place, token or default_token(), cluster)
    context.call_on_close(api.close)
    context.obj = Session(api, Output(is_json=is_json))
