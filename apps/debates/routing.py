"""Websocket addresses of runs."""

from django.urls import path

from apps.debates.consumers import RunProgressConsumer

websocket_urlpatterns = [
    path("ws/v1/runs/<int:run_id>/", RunProgressConsumer.as_asgi(), name="run_socket"),
]
