"""The REST surface below /api/: version 1 of every app, the OpenAPI document and its page."""

from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.permissions import AllowAny

from apps.agreement.api.urls import urlpatterns as agreement
from apps.authors.api.urls import urlpatterns as authors
from apps.common.api.docs import api_docs
from apps.debates.api.urls import urlpatterns as debates
from apps.echo.api.urls import urlpatterns as echo
from apps.exchange.api.urls import urlpatterns as exchange
from apps.learning.api.urls import urlpatterns as learning
from apps.llm.api.urls import urlpatterns as llm
from apps.projects.api.urls import urlpatterns as projects
from apps.reviews.api.urls import urlpatterns as reviews

v1 = [*projects, *llm, *authors, *echo, *debates, *reviews, *learning, *agreement, *exchange]

urlpatterns = [
    path("v1/", include(v1)),
    # The document names addresses and fields, no data: open to everybody.
    path("schema/", SpectacularAPIView.as_view(permission_classes=[AllowAny]), name="api_schema"),
    path("docs/", api_docs, name="api_docs"),
]
