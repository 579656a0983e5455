"""Paths under ``/api/v1/`` of jobs and schedules."""

from __future__ import annotations

from django.urls import path

from console.jobs import action_views, artefact_views, schedule_views, views

urlpatterns = [
    path("jobs", views.JobsView.as_view()),
    path("job-workers", views.WorkersView.as_view()),
    path("jobs/<str:job_id>:cancel", action_views.CancelView.as_view()),
    path("jobs/<str:job_id>:pause", action_views.PauseView.as_view()),
    path("jobs/<str:job_id>:resume", action_views.ResumeView.as_view()),
    path("jobs/<str:job_id>:retry", action_views.RetryView.as_view()),
    path("jobs/<str:job_id>:replay_missing", action_views.ReplayMissingView.as_view()),
    path("jobs/<str:job_id>", views.JobView.as_view()),
    path("jobs/<str:job_id>/log", views.LogView.as_view()),
    path("jobs/<str:job_id>/progress", views.ProgressView.as_view()),
    path("jobs/<str:job_id>/report", views.ReportView.as_view()),
    path("jobs/<str:job_id>/artefacts", artefact_views.ArtefactsView.as_view()),
    path("jobs/<str:job_id>/artefacts/<str:name>", artefact_views.ArtefactView.as_view()),
    path("schedules", schedule_views.SchedulesView.as_view()),
    path("schedules:preview", schedule_views.PreviewView.as_view()),
    path("schedules/<str:schedule_id>:run_now", schedule_views.RunNowView.as_view()),
    path("schedules/<str:schedule_id>/runs", schedule_views.RunsView.as_view()),
    path("schedules/<str:schedule_id>", schedule_views.ScheduleView.as_view()),
]
