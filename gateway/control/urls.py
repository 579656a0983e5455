"""Paths under ``/api/v1/`` of the control plane."""

from __future__ import annotations

from django.urls import path
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiJsonRenderer2
from drf_spectacular.views import SpectacularAPIView

from gateway.control import (
    brokers,
    dead_letter_export,
    dead_letters,
    deliver,
    group_clone,
    group_impact,
    group_members,
    groups,
    health,
    key_lookup,
    messages,
    naming,
    offset_views,
    overview,
    redrive,
    redrive_outcomes,
    resend,
    scan_views,
    scheduled,
    timeline,
    topic_bulk,
    topic_messages,
    topic_pause,
    topic_queues,
    topics,
)
from gateway.control.definitions import views as definitions

# Callers ask for it by its own type or as plain JSON.
_JSON = [OpenApiJsonRenderer, OpenApiJsonRenderer2]

CLUSTER = "clusters/<str:cluster>"

urlpatterns = [
    path("openapi.json", SpectacularAPIView.as_view(renderer_classes=_JSON), name="openapi"),
    path("health/checks", health.HealthChecksView.as_view()),
    path("health/checks/<str:name>", health.HealthCheckView.as_view()),
    path("definitions", definitions.DefinitionsView.as_view()),
    path("naming", naming.NamingView.as_view()),
    path(f"{CLUSTER}/overview", overview.OverviewView.as_view()),
    path(f"{CLUSTER}/overview/history", overview.OverviewHistoryView.as_view()),
    path(f"{CLUSTER}/brokers/<str:broker>/config", brokers.BrokerSettingsView.as_view()),
    path(f"{CLUSTER}/brokers/<str:broker>/config:preview", brokers.BrokerSettingsPreviewView.as_view()),
    path(f"{CLUSTER}/topics", topics.TopicsView.as_view()),
    path(f"{CLUSTER}/topics:delete", topic_bulk.BulkDeleteView.as_view()),
    path(f"{CLUSTER}/topics:update", topic_bulk.BulkChangeView.as_view()),
    path(f"{CLUSTER}/topics/<str:topic>:pause", topic_pause.TopicPauseView.as_view()),
    path(f"{CLUSTER}/topics/<str:topic>:resume", topic_pause.TopicResumeView.as_view()),
    path(f"{CLUSTER}/topics/<str:topic>", topics.TopicView.as_view()),
    path(f"{CLUSTER}/topics/<str:topic>/impact", topics.TopicImpactView.as_view()),
    path(f"{CLUSTER}/topics/<str:topic>/queues", topic_queues.TopicQueuesView.as_view()),
    path(f"{CLUSTER}/topics/<str:topic>/groups", topics.TopicGroupsView.as_view()),
    path(f"{CLUSTER}/topics/<str:topic>/producers", topics.TopicProducersView.as_view()),
    path(f"{CLUSTER}/topics/<str:topic>/messages:scan", scan_views.ScanView.as_view()),
    path(f"{CLUSTER}/topics/<str:topic>/messages", topic_messages.TopicMessagesView.as_view()),
    path(f"{CLUSTER}/topics/<str:topic>/queues/<int:queue_id>/messages", messages.QueueMessagesView.as_view()),
    path(f"{CLUSTER}/groups", groups.GroupsView.as_view()),
    path(f"{CLUSTER}/groups/<str:group>:clone", group_clone.GroupCloneView.as_view()),
    path(f"{CLUSTER}/groups/<str:group>:pause", groups.GroupPauseView.as_view()),
    path(f"{CLUSTER}/groups/<str:group>:resume", groups.GroupResumeView.as_view()),
    path(f"{CLUSTER}/groups/<str:group>", groups.GroupView.as_view()),
    path(f"{CLUSTER}/groups/<str:group>/impact", group_impact.GroupImpactView.as_view()),
    path(f"{CLUSTER}/groups/<str:group>/lag/history", groups.LagHistoryView.as_view()),
    path(f"{CLUSTER}/groups/<str:group>/offsets:preview", offset_views.OffsetPreviewView.as_view()),
    path(f"{CLUSTER}/groups/<str:group>/offsets:apply", offset_views.OffsetApplyView.as_view()),
    path(f"{CLUSTER}/groups/<str:group>/offsets:undo", offset_views.OffsetUndoView.as_view()),
    path(f"{CLUSTER}/groups/<str:group>/offsets/snapshots", offset_views.OffsetSnapshotsView.as_view()),
    path(f"{CLUSTER}/groups/<str:group>/clients", groups.GroupClientsView.as_view()),
    path(f"{CLUSTER}/groups/<str:group>/clients/<str:client>", group_members.GroupMemberView.as_view()),
    path(f"{CLUSTER}/groups/<str:group>/subscriptions", group_members.GroupSubscriptionsView.as_view()),
    path(f"{CLUSTER}/dead-letters", dead_letters.DeadLetterGroupsView.as_view()),
    path(f"{CLUSTER}/dead-letters/<str:group>:redrive", redrive.RedriveView.as_view()),
    path(f"{CLUSTER}/dead-letters/<str:group>", dead_letters.DeadLetterGroupView.as_view()),
    path(f"{CLUSTER}/dead-letters/<str:group>/export", dead_letter_export.DeadLetterExportView.as_view()),
    path(f"{CLUSTER}/dead-letters/<str:group>/outcomes", redrive_outcomes.RedriveOutcomesView.as_view()),
    path(f"{CLUSTER}/dead-letters/<str:group>/messages", dead_letters.DeadLettersView.as_view()),
    path(f"{CLUSTER}/dead-letters/<str:group>/causes", dead_letters.DeadLetterCausesView.as_view()),
    path(f"{CLUSTER}/scheduled", scheduled.ScheduledView.as_view()),
    path(f"{CLUSTER}/scheduled/summary", scheduled.ScheduledSummaryView.as_view()),
    path(f"{CLUSTER}/scheduled/<str:message_id>", scheduled.ScheduledMessageView.as_view()),
    path(f"{CLUSTER}/messages:search", key_lookup.MessagesSearchView.as_view()),
    path(f"{CLUSTER}/messages/<str:message_id>:deliver", deliver.DeliverView.as_view()),
    path(f"{CLUSTER}/messages/<str:message_id>:resend", resend.ResendView.as_view()),
    path(f"{CLUSTER}/messages/<str:message_id>", messages.MessageView.as_view()),
    path(f"{CLUSTER}/messages/<str:message_id>/timeline", timeline.TimelineView.as_view()),
    path(f"{CLUSTER}/messages/<str:message_id>/deliveries", messages.DeliveriesView.as_view()),
]
