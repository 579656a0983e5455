"""Files of certificates are read in a thread of their own."""

from __future__ import annotations

from threading import Event

from broker_core.remoting.pem_files import in_thread


def test_a_result_that_nobody_waits_for_any_more_is_no_error() -> None:
    go_on = Event()
    done = in_thread(go_on.wait)
    assert not done.cancel(), "work that has begun goes on"
    go_on.set()
    assert done.result(10) is True
