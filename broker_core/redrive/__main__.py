"""The program of a redrive: ``python -m broker_core.redrive JOB_DIR`` (redrive/README.md#program)."""

from __future__ import annotations

import asyncio
import signal
import sys
import traceback
from typing import Final

import msgspec
from msgspec import Struct

import broker_core
from broker_core.client.errors import BrokerRefused, ClientError, NoRoute, TopicNotFound, Unreachable
from broker_core.errors import GantryError
from broker_core.job_folder import Artefact, JobFolder, ProgressLine, folder_argument, say
from broker_core.redrive.request import BadRequest, read_request
from broker_core.redrive.run import CANCELLED, OK, PARTIAL, PAUSED, ProgramResult, Redrive
from broker_core.redrive.sending import NoneReached

_CRASHED: Final = 1
_BAD_REQUEST: Final = 2
_UNREACHABLE: Final = 4


class ResultFile(Struct, kw_only=True):
    """The content of ``result.json``."""

    reason: str
    error: str | None
    versions: dict[str, str]
    counters: dict[str, int | None] | None
    artefacts: list[Artefact]


def main() -> None:
    """Run the redrive of the folder on the command line, and exit."""
    folder = JobFolder(folder_argument("The program of a redrive"))
    say(f"redrive {folder.path.name}: begins")
    result = _result(folder)
    say(f"ended with status {result.exit_code}: {result.reason}")
    last = folder.last_line("progress.jsonl", ProgressLine)
    content = ResultFile(
        reason=result.reason,
        error=result.reason if result.exit_code not in (OK, PARTIAL, PAUSED, CANCELLED) else None,
        versions={"gantry": broker_core.__version__},
        counters=last.counters if last else None,
        artefacts=folder.artefacts(),
    )
    folder.write_json("result.json", msgspec.to_builtins(content))
    sys.exit(result.exit_code)


def _result(folder: JobFolder) -> ProgramResult:
    try:
        return asyncio.run(_run(folder))
    except (BadRequest, TopicNotFound) as error:
        return ProgramResult(exit_code=_BAD_REQUEST, reason=str(error))
    except (NoneReached, Unreachable, NoRoute) as error:
        return ProgramResult(exit_code=_UNREACHABLE, reason=str(error))
    except (ClientError, BrokerRefused, GantryError) as error:
        return ProgramResult(exit_code=_CRASHED, reason=str(error))
    except Exception as error:  # noqa: BLE001 - the top of the program: the log gets the traceback, people a line
        traceback.print_exc()
        return ProgramResult(exit_code=_CRASHED, reason=f"the program failed with {type(error).__name__}: {error}")


async def _run(folder: JobFolder) -> ProgramResult:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    redrive = Redrive(folder, read_request(folder), stop)
    listening = asyncio.create_task(redrive.listen())
    try:
        return await redrive.run()
    finally:
        listening.cancel()


if __name__ == "__main__":
    main()
