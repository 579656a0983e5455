"""How each refusal is sent: one table from error class to response code.

The remark is the text of the error. Errors of the protocol and the store are included, so that all of the broker uses
the same table.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Final

from broker_core.broker import errors
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.errors import ProtocolError
from broker_core.remoting.dispatch import find_code
from broker_core.store import errors as store_errors

ANSWERS: Final[Mapping[type[Exception], ResponseCode]] = {
    errors.IllegalTopicName: ResponseCode.SYSTEM_ERROR,
    errors.SystemTopic: ResponseCode.SYSTEM_ERROR,
    errors.SendForbidden: ResponseCode.NO_PERMISSION,
    errors.TopicUnknown: ResponseCode.TOPIC_NOT_EXIST,
    errors.TopicUnreadable: ResponseCode.NO_PERMISSION,
    errors.TopicUnwritable: ResponseCode.NO_PERMISSION,
    errors.BrokerUnreadable: ResponseCode.NO_PERMISSION,
    errors.BrokerUnwritable: ResponseCode.NO_PERMISSION,
    errors.NotMaster: ResponseCode.SERVICE_NOT_AVAILABLE,
    errors.NotChangedHere: ResponseCode.SYSTEM_ERROR,
    errors.NotDecidedHere: ResponseCode.SLAVE_NOT_AVAILABLE,
    errors.NotAnswered: ResponseCode.SYSTEM_ERROR,
    errors.Unconfirmed: ResponseCode.SYSTEM_BUSY,
    errors.IllegalQueue: ResponseCode.SYSTEM_ERROR,
    errors.IllegalArgument: ResponseCode.INVALID_PARAMETER,
    errors.SettingUnknown: ResponseCode.INVALID_PARAMETER,
    errors.SettingIllegal: ResponseCode.INVALID_PARAMETER,
    errors.SettingFixed: ResponseCode.NO_PERMISSION,
    errors.GroupNotFound: ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
    errors.GroupPaused: ResponseCode.NO_PERMISSION,
    errors.GroupOffline: ResponseCode.CONSUMER_NOT_ONLINE,
    errors.NoMembers: ResponseCode.SYSTEM_ERROR,
    errors.OffsetUnknown: ResponseCode.SYSTEM_ERROR,
    errors.OffsetOutOfRange: ResponseCode.SYSTEM_ERROR,
    errors.StatisticUnknown: ResponseCode.SYSTEM_ERROR,
    errors.ClientUnreachable: ResponseCode.SYSTEM_ERROR,
    errors.ClientTooSlow: ResponseCode.CONSUME_MSG_TIMEOUT,
    errors.NotSubscribed: ResponseCode.SUBSCRIPTION_NOT_EXIST,
    errors.SubscriptionTooOld: ResponseCode.SUBSCRIPTION_NOT_LATEST,
    errors.BadSubscription: ResponseCode.SUBSCRIPTION_PARSE_FAILED,
    errors.FilterUnsupported: ResponseCode.SYSTEM_ERROR,
    errors.ReplyLost: ResponseCode.SYSTEM_ERROR,
    errors.MessageIllegal: ResponseCode.MESSAGE_ILLEGAL,
    errors.MessageGone: ResponseCode.SYSTEM_ERROR,
    errors.DiskFull: ResponseCode.SERVICE_NOT_AVAILABLE,
    errors.LeaseLost: ResponseCode.NO_MESSAGE,
    errors.TransactionsRefused: ResponseCode.NO_PERMISSION,
    errors.RecallsRefused: ResponseCode.NO_PERMISSION,
    errors.TransactionUnknown: ResponseCode.SYSTEM_ERROR,
    errors.TransactionDecided: ResponseCode.SYSTEM_ERROR,
    errors.AccessRefused: ResponseCode.SYSTEM_ERROR,
    errors.AccountIllegal: ResponseCode.INVALID_PARAMETER,
    errors.AccountUnknown: ResponseCode.INVALID_PARAMETER,
    errors.NothingFound: ResponseCode.QUERY_NOT_FOUND,
    errors.TimerDisabled: ResponseCode.SYSTEM_ERROR,
    errors.AlreadyDelivered: ResponseCode.ILLEGAL_OPERATION,
    errors.IllegalHandle: ResponseCode.INVALID_PARAMETER,
    errors.LimitReached: ResponseCode.SYSTEM_ERROR,
    errors.WaitingFull: ResponseCode.SYSTEM_BUSY,
    errors.PollingFull: ResponseCode.POLLING_FULL,
    errors.TooManyLeases: ResponseCode.FLOW_CONTROL,
    store_errors.MessageUnstorable: ResponseCode.MESSAGE_ILLEGAL,
    store_errors.MessageDamaged: ResponseCode.SYSTEM_ERROR,
    store_errors.TooManyQueues: ResponseCode.SYSTEM_ERROR,
    store_errors.StoreFull: ResponseCode.SERVICE_NOT_AVAILABLE,
    store_errors.StoreFollows: ResponseCode.SERVICE_NOT_AVAILABLE,
    store_errors.TooFarBehind: ResponseCode.SYSTEM_BUSY,
    store_errors.StoreClosed: ResponseCode.SERVICE_NOT_AVAILABLE,
    store_errors.FlushFailed: ResponseCode.SERVICE_NOT_AVAILABLE,
    ProtocolError: ResponseCode.SYSTEM_ERROR,
    sqlite3.Error: ResponseCode.SERVICE_NOT_AVAILABLE,
    OSError: ResponseCode.SERVICE_NOT_AVAILABLE,
}


def refusal(error: Exception) -> Command:
    """Return the response to a request that waited; no handler is running that could raise the error."""
    code = find_code(ANSWERS, error)
    return Command.response(ResponseCode.SYSTEM_ERROR if code is None else code, remark=str(error))
