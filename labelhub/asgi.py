"""HTTP and websockets.

Requests are answered by Django's synchronous side in a few threads that live as long as the server
and keep their database connections. Django's own ASGI side starts a thread and a connection for
each request, which costs a third more per label.
"""

import os
from typing import Any, cast

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "labelhub.settings.prod")
wsgi = get_wsgi_application()  # loads the apps; what follows needs them

from a2wsgi import WSGIMiddleware  # noqa: E402 - after the apps
from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import AllowedHostsOriginValidator  # noqa: E402
from django.conf import settings  # noqa: E402
from django.urls import re_path  # noqa: E402

from apps.exchange.services.imports import MAX_BYTES  # noqa: E402
from labelhub.routing import foreign_urlpatterns, own_urlpatterns  # noqa: E402
from labelhub.web.answers import patient, while_wanted  # noqa: E402
from labelhub.web.asgi_types import App  # noqa: E402
from labelhub.web.bodies import whole_bodies  # noqa: E402
from labelhub.web.callers import is_known  # noqa: E402

#: Messages of an answer that wait for its reader without a thread: enough for every static file,
#: which come in pieces of 4 KB, and with that for all that strangers can ask for.
WAITING = 128

# Each library spells the types of the two protocols in its own way.
http = cast(
    App,
    WSGIMiddleware(
        cast(Any, while_wanted(cast(Any, wsgi))),
        workers=settings.LABELHUB_HTTP_THREADS,
        send_queue_size=WAITING,
    ),
)

own_sockets = AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(own_urlpatterns)))

application = ProtocolTypeRouter(
    {
        "http": patient(whole_bodies(http, file_limit=MAX_BYTES, known=is_known)),
        # The widget checks origins itself, by site, and knows nothing of our cookies.
        "websocket": URLRouter([*foreign_urlpatterns, re_path("", own_sockets)]),
    }
)
