"""Sends a delivery as mail, by the server of GANTRY_SMTP_HOST."""

from __future__ import annotations

import smtplib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.conf import settings
from django.core.mail import EmailMessage, get_connection

from console.alerts.outcome import MAX_ANSWER, Outcome

NO_SERVER: Final = "no mail server is set; set GANTRY_SMTP_HOST and start Gantry again"
_BACKEND: Final = "django.core.mail.backends.smtp.EmailBackend"


def send(recipients: Sequence[str], payload: Mapping[str, Any], delivery: str) -> Outcome:
    """Send one mail to all recipients."""
    if not settings.EMAIL_HOST:
        return Outcome(None, NO_SERVER)
    mail = EmailMessage(
        subject=f"[Gantry] {payload['title']}",
        body=text_of(payload),
        to=list(recipients),
        headers={"X-Gantry-Delivery": delivery, "Auto-Submitted": "auto-generated"},
        connection=get_connection(_BACKEND),
    )
    try:
        mail.send()
    except smtplib.SMTPResponseException as error:
        answer = error.smtp_error.decode("utf-8", "replace") if isinstance(error.smtp_error, bytes) else ""
        return Outcome(error.smtp_code, f"{settings.EMAIL_HOST} answered {error.smtp_code}", answer[:MAX_ANSWER])
    except (smtplib.SMTPException, OSError) as error:
        return Outcome(None, f"{settings.EMAIL_HOST}: {error}"[:MAX_ANSWER])
    return Outcome(250, None)


def text_of(payload: Mapping[str, Any]) -> str:
    """Return the text of a mail: the title, a line for each alert, and the page that shows them."""
    lines = [payload["title"], ""]
    for alert in payload.get("alerts", []):
        value = "unknown" if alert["value"] is None else f"{alert['value']:,.6g}"
        lines.append(f"{alert['state']}  {alert['cluster']}/{alert['subject']}  {value}")
        if alert.get("advice") and alert["state"] != "resolved":
            lines.append(f"    {alert['advice']}")
    more = payload.get("count", 0) - len(payload.get("alerts", []))
    if more > 0:
        lines.append(f"and {more} more")
    lines += [f"{name}: {value}" for name, value in payload.get("details", {}).items()]
    if settings.GANTRY_PUBLIC_URL:
        lines += ["", f"{settings.GANTRY_PUBLIC_URL}/alerts"]
    return "\n".join(lines) + "\n"
