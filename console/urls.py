"""Paths under ``/api/v1/`` of the console's own records."""

from __future__ import annotations

from django.urls import include, path

import console.path_numbers  # noqa: F401 - the paths have numbers
from console.accounts import check_views, role_views, session_views, sessions
from console.accounts import views as accounts
from console.audit import views as audit
from console.clusters import views as clusters
from console.searches import views as searches

urlpatterns = [
    path("login", sessions.LoginView.as_view()),
    path("logout", sessions.LogoutView.as_view()),
    path("csrf", sessions.CsrfView.as_view()),
    path("me", sessions.MeView.as_view()),
    path("me/password", sessions.PasswordView.as_view()),
    path("me/sessions", session_views.MySessionsView.as_view()),
    path("me/sessions:end-others", session_views.EndOthersView.as_view()),
    path("me/sessions/<str:session_id>", session_views.MySessionView.as_view()),
    path("me/searches", searches.SavedSearchesView.as_view()),
    path("me/searches/<number:search_id>", searches.SavedSearchView.as_view()),
    path("sessions", session_views.SessionsView.as_view()),
    path("sessions/<str:session_id>", session_views.SessionView.as_view()),
    path("users", accounts.UsersView.as_view()),
    path("users/<number:user_id>", accounts.UserView.as_view()),
    path("roles", role_views.RolesView.as_view()),
    path("roles/<str:role>", role_views.RoleView.as_view()),
    path("access:check", check_views.AccessCheckView.as_view()),
    path("access:coverage", check_views.CoverageView.as_view()),
    path("tokens", accounts.TokensView.as_view()),
    path("tokens/<number:token_id>", accounts.TokenView.as_view()),
    path("ws-tickets", accounts.TicketsView.as_view()),
    path("clusters", clusters.ClustersView.as_view()),
    path("clusters:probe", clusters.ClusterProbeView.as_view()),
    path("clusters/<str:cluster>", clusters.ClusterView.as_view()),
    path("clusters/<str:cluster>/brokers/<str:broker>", clusters.KnownBrokerView.as_view()),
    path("", include("console.jobs.urls")),
    path("", include("console.alerts.urls")),
    path("audit", audit.AuditView.as_view()),
    path("audit:export", audit.AuditExportView.as_view()),
]
