"""What is known of a message that its topic does not have: whether it waits for a delivery time, or did."""

from __future__ import annotations

from broker_core.client.admin import Admin
from broker_core.errors import GantryError
from broker_core.protocol import properties as names
from broker_core.protocol.headers.timers import ListTimersRequest
from broker_core.protocol.topics import TIMER_TOPIC
from console.moments import rfc3339
from gateway.control.cluster_view import ClusterScopedView
from gateway.control.scheduled_reading import waiting_page


def absence_of(view: ClusterScopedView, topic: str, message_id: str) -> str:
    """Return the sentence for a message that is not in its topic; until when it waits, where that is known."""
    known = f"No message of topic {topic!r} has the id {message_id!r}"
    try:
        waits = view.ask(lambda admin: _waits(admin, topic, message_id))
    except GantryError:  # a cluster without delivery times, or a broker that does not answer: what is known still holds
        return f"{known}."
    return f"{known}{waits}."


async def _waits(admin: Admin, topic: str, message_id: str) -> str:
    """Return what the brokers' records of waiting messages say about it; nothing if it never waited."""
    parked = await admin.messages.search(TIMER_TOPIC, message_id)
    mine = (each.message for each in parked.messages if each.message.unique_id == message_id)
    if not any(each.properties.get(names.REAL_TOPIC) == topic for each in mine):
        return ""
    wanted = ListTimersRequest(1, topic=topic, msg_id=message_id)
    page = await waiting_page(admin, wanted, {}, lambda _: True)
    if page.messages:
        waiting, _ = page.messages[0]
        return f": it waits for its delivery time, {rfc3339(waiting.due)}; see /scheduled/{message_id}"
    return "" if page.failed else ": it waited for a delivery time, and was delivered or recalled"
