"""The OpenAPI document, and the two pages that show it: Swagger UI and ReDoc."""

from functools import cache
from typing import Any

from csp.constants import NONCE
from csp.decorators import csp_update
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.settings import spectacular_settings
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.api.openapi import generating


@cache
def openapi_document() -> dict[str, Any]:
    """The OpenAPI document, made once, as it depends on the code only."""
    generator = spectacular_settings.DEFAULT_GENERATOR_CLASS(
        urlconf=settings.ROOT_URLCONF, api_version=SpectacularAPIView.api_version
    )
    with generating:
        document: dict[str, Any] = generator.get_schema(request=None, public=True)
    return document


class OpenApiView(SpectacularAPIView):
    """The OpenAPI document as YAML or JSON; public, as it holds no data."""

    permission_classes = [AllowAny]

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:
        """The document in the format that the client prefers."""
        name = f"labelhub.{request.accepted_renderer.format}"
        disposition = {"Content-Disposition": f'inline; filename="{name}"'}
        return Response(openapi_document(), headers=disposition)


@require_safe
def swagger_ui(request: HttpRequest) -> HttpResponse:
    """Swagger UI, to read the documentation and try requests."""
    return render(request, "common/swagger_ui.html")


@require_safe
@csp_update({"style-src": [NONCE], "worker-src": ["blob:"]})
def redoc(request: HttpRequest) -> HttpResponse:
    """ReDoc, to read and search the documentation. It needs inline styles and a worker from a
    blob."""
    return render(request, "common/redoc.html")
