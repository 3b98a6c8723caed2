"""The REST surface below /api/: version 1 of every app, the OpenAPI document and its pages."""

from django.urls import include, path

from apps.accounts.api import urlpatterns as accounts
from apps.agreement.api.urls import urlpatterns as agreement
from apps.authors.api.urls import urlpatterns as authors
from apps.common.api.docs import OpenApiView, redoc, swagger_ui
from apps.debates.api.urls import urlpatterns as debates
from apps.echo.api.urls import urlpatterns as echo
from apps.exchange.api.urls import urlpatterns as exchange
from apps.learning.api import urlpatterns as learning
from apps.llm.api import urlpatterns as llm
from apps.projects.api.urls import urlpatterns as projects
from apps.reviews.api_urls import urlpatterns as reviews

v1 = [
    *accounts,
    *projects,
    *llm,
    *authors,
    *echo,
    *debates,
    *reviews,
    *learning,
    *agreement,
    *exchange,
]

urlpatterns = [
    path("v1/", include(v1)),
    path("schema/", OpenApiView.as_view(), name="api_schema"),
    path("docs/", swagger_ui, name="api_docs"),
    path("docs/redoc/", redoc, name="api_redoc"),
]
