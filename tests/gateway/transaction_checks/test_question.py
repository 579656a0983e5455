"""Requirements of `gateway.transaction_checks.question`: nothing but a plain decision is one."""

from __future__ import annotations

import pytest

from broker_core.client.transactions import Decision
from console.alerts.outcome import Outcome
from gateway.transaction_checks.question import understood

NO_JSON = 'the answer is not JSON such as {"decision": "commit"}'
TOO_LONG = "the answer is longer than 500 characters"


@pytest.mark.parametrize(
    ("body", "decision"),
    [
        (b'{"decision": "commit"}', Decision.COMMIT),
        (b'{"decision": "rollback", "because": "\xc3\xa9", "more": {"decision": "commit"}}', Decision.ROLLBACK),
        (b'{"decision": "unknown"}', Decision.UNKNOWN),
        (b'{"decision": "commit"}' + b" " * 478, Decision.COMMIT),
    ],
)
def test_a_hook_says_how_a_transaction_ends(body: bytes, decision: Decision) -> None:
    assert understood(Outcome(200, None, "", body)) == (decision, None)


@pytest.mark.parametrize(
    ("body", "failure"),
    [
        (b'{"decision": "com\0mit"}', NO_JSON),
        (b'{"decision": "commit", "because": "\0"}', NO_JSON),
        (b'{"decision": "commit", "because": "\xff"}', "the answer is not UTF-8"),
        (b'\xff{"decision": "commit"}', "the answer is not UTF-8"),
        (b'\xef\xbb\xbf{"decision": "commit"}', NO_JSON),
        (b'{"decision": "rollback", "decision": "commit"}', "the answer has more than one decision"),
        (b'{"decision": "commit", "decision": "commit"}', "the answer has more than one decision"),
        (b'{"decision": "Commit"}', "the decision 'Commit' is not one of commit, rollback, unknown"),
        (b'{"decision": "com\\u0000mit"}', "the decision 'com\\x00mit' is not one of commit, rollback, unknown"),
        (b'{"decision": ["commit"]}', NO_JSON),
        (b'{"decision": null}', NO_JSON),
        (b'{"decision": "commit", "more": NaN}', NO_JSON),
        (b'{"more": {"decision": "commit"}}', NO_JSON),
        (b'[{"decision": "commit"}]', NO_JSON),
        (b'"commit"', NO_JSON),
        (b'{"decision": "commit"} {}', NO_JSON),
        (b"[" * 500, NO_JSON),
        (b"", NO_JSON),
        (b'{"decision": "commit"}' + b" " * 479, TOO_LONG),
    ],
)
def test_whatever_else_a_hook_says_is_unknown(body: bytes, failure: str) -> None:
    assert understood(Outcome(200, None, '{"decision": "commit"}', body)) == (Decision.UNKNOWN, failure)


def test_an_answer_that_is_not_whole_or_no_success_is_unknown() -> None:
    body = b'{"decision": "commit"}'
    assert understood(Outcome(200, None, "", body, cut="late")) == (Decision.UNKNOWN, "late")
    assert understood(Outcome(500, "answered 500", "", body)) == (Decision.UNKNOWN, "answered 500")
