"""Paths under ``/api/v1/`` of alerts."""

from __future__ import annotations

from django.urls import path

from console.alerts import alert_views, channel_views, delivery_views, rule_views, silence_views

urlpatterns = [
    path("alert-rules", rule_views.RulesView.as_view()),
    path("alert-rules:preview", rule_views.PreviewRuleView.as_view()),
    path("alert-rules/<str:rule_id>", rule_views.RuleView.as_view()),
    path("alerts", alert_views.AlertsView.as_view()),
    path("alerts:counts", alert_views.AlertCountsView.as_view()),
    path("alerts/<str:alert_id>:acknowledge", alert_views.AcknowledgeView.as_view()),
    path("alerts/<str:alert_id>:unacknowledge", alert_views.UnacknowledgeView.as_view()),
    path("alerts/<str:alert_id>", alert_views.AlertView.as_view()),
    path("silences", silence_views.SilencesView.as_view()),
    path("silences/<str:silence_id>:end", silence_views.EndSilenceView.as_view()),
    path("silences/<str:silence_id>", silence_views.SilenceView.as_view()),
    path("alert-channels", channel_views.ChannelsView.as_view()),
    path("alert-channels/<str:channel_id>:test", channel_views.TestChannelView.as_view()),
    path("alert-channels/<str:channel_id>", channel_views.ChannelView.as_view()),
    path("deliveries", delivery_views.DeliveriesView.as_view()),
    path("deliveries/<str:delivery_id>:retry", delivery_views.RetryDeliveryView.as_view()),
    path("deliveries/<str:delivery_id>", delivery_views.DeliveryView.as_view()),
]
