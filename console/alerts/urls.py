"""Paths under ``/api/v1/`` of alerts."""

from __future__ import annotations

from django.urls import path

from console.alerts import rule_views

urlpatterns = [
    path("alert-rules", rule_views.RulesView.as_view()),
    path("alert-rules/<str:rule_id>", rule_views.RuleView.as_view()),
]
