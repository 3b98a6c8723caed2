"""HTTP and websockets.

A few long-lived threads run Django's synchronous side and keep their database connections.
Django's own ASGI handler starts a thread and a connection for each request, which takes a third
longer per label.
"""

import os
from typing import Any, cast

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "labelhub.settings.prod")
wsgi = get_wsgi_application()  # loads the apps; what follows needs them
get_resolver().url_patterns  # noqa: B018 - imports all views, so that no first request waits for it

from a2wsgi import WSGIMiddleware  # noqa: E402 - after the apps
from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import AllowedHostsOriginValidator  # noqa: E402
from django.conf import settings  # noqa: E402
from django.urls import re_path  # noqa: E402

from apps.authors.consumers import websocket_urlpatterns as authors  # noqa: E402
from apps.common.metric_files import set_role  # noqa: E402
from apps.debates.consumers import websocket_urlpatterns as debates  # noqa: E402
from apps.exchange.services.imports import MAX_BYTES  # noqa: E402
from labelhub.observe.endpoint import serve_metrics  # noqa: E402
from labelhub.observe.requests import observe_requests, observe_sockets  # noqa: E402
from labelhub.web.asgi_types import App  # noqa: E402
from labelhub.web.bodies import require_whole_bodies  # noqa: E402
from labelhub.web.callers import is_known_caller  # noqa: E402
from labelhub.web.clients import name_clients  # noqa: E402
from labelhub.web.liveness import answer_liveness  # noqa: E402
from labelhub.web.responses import cut_off_slow_clients, stop_unread_responses  # noqa: E402

#: Buffered messages of a response: enough for any static file in pieces of 4 KB, and so for all
#: that strangers can request, to free the thread before a slow client has read it.
WAITING = 128

set_role("web")

# The libraries type the two protocols differently.
http = cast(
    App,
    WSGIMiddleware(
        cast(Any, stop_unread_responses(cast(Any, wsgi))),
        workers=settings.LABELHUB_HTTP_THREADS,
        send_queue_size=WAITING,
    ),
)

own_sockets = AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(debates)))

router = ProtocolTypeRouter(
    {
        "http": observe_requests(
            answer_liveness(
                serve_metrics(
                    cut_off_slow_clients(
                        require_whole_bodies(http, file_limit=MAX_BYTES, known=is_known_caller)
                    )
                )
            )
        ),
        # The widget checks origins by site, and uses no cookies.
        "websocket": observe_sockets(URLRouter([*authors, re_path("", own_sockets)])),
    }
)
application = name_clients(cast(App, router))
