"""Websocket addresses of our own pages, and of sites that embed the widget."""

from apps.authors.consumers import websocket_urlpatterns as authors
from apps.debates.consumers import websocket_urlpatterns as debates

own_urlpatterns = [*debates]
foreign_urlpatterns = [*authors]
