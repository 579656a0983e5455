"""The root command: where the gateway is, who asks, and how answers are printed."""

from __future__ import annotations

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


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--url", envvar="GANTRY_URL", help="The gateway; by default the one that `make up` starts here.")
@click.option("--token", envvar="GANTRY_TOKEN", help="By default the one in the data folder of `make up`.")
@click.option("--cluster", envvar="GANTRY_CLUSTER", default="local", show_default=True, help="Name in the console.")
@click.option("--json", "is_json", is_flag=True, help="Print JSON, a line for each item, as the API gives it.")
@click.version_option("0.1.0", prog_name="gantry")
@click.pass_context
def gantry(context: click.Context, url: str | None, token: str | None, cluster: str, is_json: bool) -> None:
    """Work with a Gantry from scripts and the shell, over its HTTP API.

    Errors are told on stderr. Exit code 1: refused or not wholly done, 2: wrongly written, 3: no gateway answers.
    """
    api = Api(url or default_url(), token or default_token(), cluster)
    context.call_on_close(api.close)
    context.obj = Session(api, Output(is_json=is_json))
