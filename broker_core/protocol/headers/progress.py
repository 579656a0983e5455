"""Header of the question for everything that changed at a broker."""

from __future__ import annotations

from broker_core.protocol.codes import RequestCode
from broker_core.protocol.fields import I32, I64, header


@header(RequestCode.GET_PROGRESS)
class GetProgressRequest:
    """Code 30104 (Gantry): what changed after `since` of a session; answered by Progress, up to `limit` names at once.

    A session that the broker does not know means everything, a limit of 0 only the versions of the settings. `goes_on`
    is for the next page of an answer: nothing is looked for anew.
    """

    session: str = ""
    since: I64 = 0
    limit: I32 = 1000
    goes_on: bool = False
