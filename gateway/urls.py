"""The paths that Django answers: the control plane, its description, and the console's pages for everything else."""

from __future__ import annotations

from django.urls import include, path, re_path

from gateway.control import pages

# Errors outside of views are answered by problems as well.
handler400 = "gateway.control.pages.bad_request"
handler403 = "gateway.control.pages.forbidden"
handler404 = "gateway.control.pages.not_found"
handler500 = "gateway.control.pages.failed"

urlpatterns = [
    path("api/v1/", include("gateway.control.urls")),
    path("api/v1/", include("console.urls")),
    path("docs/api", pages.ApiDocs.as_view(), name="api-docs"),
    # An unknown path of the API gets a problem, not the console's page.
    re_path(r"(?s)^(?:api|ws|static|assets)(?:/.*)?$", pages.not_found),
    re_path(r"(?s)^.*$", pages.console, name="console"),
]
