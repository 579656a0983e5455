"""Imports all models, since Django looks for them here."""

from __future__ import annotations

from console.accounts.models import Role, Token, User
from console.alerts.models import Alert, Channel, Delivery, Rule, Silence
from console.audit.models import AuditRecord
from console.clusters.models import Cluster, KnownBroker
from console.jobs.models import Job, Schedule
from console.notes.models import TopicNote
from console.offsets.models import OffsetPlan, OffsetSnapshot
from console.redrives.models import Redriven
from console.replicas.models import SeenDecision
from console.searches.models import SavedSearch
from console.transaction_hooks.models import TransactionHook

__all__ = [
    "Alert",
    "AuditRecord",
    "Channel",
    "Cluster",
    "Delivery",
    "Job",
    "KnownBroker",
    "OffsetPlan",
    "OffsetSnapshot",
    "Redriven",
    "Role",
    "Rule",
    "SavedSearch",
    "Schedule",
    "SeenDecision",
    "Silence",
    "Token",
    "TopicNote",
    "TransactionHook",
    "User",
]
