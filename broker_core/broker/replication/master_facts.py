"""What a slave asks the main port of its master before it follows (broker/README.md#following-a-master)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from broker_core.broker.replication.plain_slave import FollowError, MasterLog
from broker_core.protocol import bodies
from broker_core.protocol.bodies.routes import KVTable
from broker_core.protocol.codes import STORE_ID_KEY, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.errors import ProtocolError
from broker_core.protocol.headers.admin import GetBrokerConfigRequest, GetBrokerRuntimeInfoRequest
from broker_core.protocol.headers.messages import ViewMessageByIdRequest
from broker_core.remoting.client import RemotingClient
from broker_core.remoting.errors import RemotingError

_TIMEOUT_MS: Final = 3_000
_SEGMENT_BYTES: Final = "mappedFileSizeCommitLog"


class MasterUnclear(FollowError):
    """Raised when the master does not answer, or not what is needed."""


@dataclass(frozen=True, slots=True)
class MasterFacts:
    """A master's log, and whether it is a broker of this kind."""

    log: MasterLog
    is_gantry: bool


async def ask_facts(remoting: RemotingClient, address: str) -> MasterFacts:
    """Return what a master says of itself; raises MasterUnclear."""
    settings = _lines(await ask(remoting, address, GetBrokerConfigRequest()))
    figures = bodies.decode(KVTable, await ask(remoting, address, GetBrokerRuntimeInfoRequest())).table
    try:
        log = MasterLog(
            segment_bytes=int(settings[_SEGMENT_BYTES]),
            begin=int(figures["commitLogMinOffset"]),
            end=int(figures["commitLogMaxOffset"]),
        )
    except (KeyError, ValueError) as error:
        raise MasterUnclear(f"the master {address} does not tell what its log is like: {error!r}") from error
    return MasterFacts(log, STORE_ID_KEY in figures)


async def ask_first_record(remoting: RemotingClient, address: str) -> bytes:
    """Return the record at log offset 0: a master sends its newest segment alone to a log that ends there.

    Raises MasterUnclear.
    """
    return await ask(remoting, address, ViewMessageByIdRequest(0))


async def find_record(remoting: RemotingClient, address: str, log_offset: int) -> bytes | None:
    """Return what a master has as the record at a log offset; None if it shows none there. Raises MasterUnclear."""
    answer = await _invoke(remoting, address, ViewMessageByIdRequest(log_offset))
    return answer.body if answer.code == ResponseCode.SUCCESS else None


async def ask(remoting: RemotingClient, address: str, header: object) -> bytes:
    """Return the body of a master's answer; raises MasterUnclear."""
    answer = await _invoke(remoting, address, header)
    if answer.code != ResponseCode.SUCCESS:
        raise MasterUnclear(f"the master {address} answers {answer.code}: {answer.remark}")
    return answer.body


async def _invoke(remoting: RemotingClient, address: str, header: object) -> Command:
    try:
        return await remoting.invoke(address, Command.request(header), _TIMEOUT_MS)
    except (RemotingError, ProtocolError) as error:
        raise MasterUnclear(str(error)) from error


def _lines(text: bytes) -> dict[str, str]:
    pairs = (line.partition("=") for line in text.decode("utf-8", "replace").splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}
