"""The widget's socket: ``/ws/v1/widget/``, subprotocol ``al.v1`` (docs/widget.md).

Plain ASGI without the consumer classes of Channels: those hop through one thread for each event and
keep a queue of the channel layer for each socket. Nothing here waits for a model; the database is
reached through a few threads of its own.
"""

from typing import Any, cast

from django.urls import path

from apps.authors.consumers.widget import widget_socket

# Channels routes to ASGI applications where Django routes to views. No session, no host check:
# pages of other sites come here.
websocket_urlpatterns = [path("ws/v1/widget/", cast(Any, widget_socket))]
