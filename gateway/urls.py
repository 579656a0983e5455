"""The paths that Django answers: the control plane, its description, and the console's pages for everything else."""

from __future__ import annotations

from django.urls import include, path, re_path

from gateway.control import pages

urlpatterns = [
    path("api/v1/", include("gateway.control.urls")),
    path("api/v1/", include("console.urls")),
    path("docs/api", pages.ApiDocs.as_view(), name="api-docs"),
    # An unknown path of the API is a problem, never the console's page.
    re_path(r"^(?:api|ws|static|assets)(?:/.*)?$", pages.not_found),
    re_path(r"^.*$", pages.console, name="console"),
]
