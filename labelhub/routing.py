"""Websocket addresses."""

from apps.debates.routing import websocket_urlpatterns as debates

websocket_urlpatterns = [*debates]
