"""Websocket addresses of authors. No session, no host check: pages of other sites come here."""

from typing import Any, cast

from django.urls import path

from apps.authors.consumers import widget_socket

# Channels routes to ASGI applications where Django routes to views.
websocket_urlpatterns = [path("ws/v1/widget/", cast(Any, widget_socket))]
