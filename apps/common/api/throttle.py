"""Limits of requests per key, or per person in a session, with the headers of the IETF's draft
(draft-ietf-httpapi-ratelimit-headers-10)."""

import math
import time
from typing import Any

from django.conf import settings
from django.core.cache import caches
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle


class CallerThrottle(BaseThrottle):
    """Counts requests in fixed windows, for all processes in one round trip to the cache.

    While Redis is away each process counts its own: nobody is refused because of that.
    """

    #: Seconds until the window ends.
    left = 0.0

    def allow_request(self, request: Request, view: Any) -> bool:
        """Whether the caller has requests left; the response tells how many."""
        most, window = getattr(request.auth, "RATE", settings.LABELHUB_API_RATE)
        caller = _caller(request)
        if not most or not caller:
            return True
        now = time.time()
        counter: Any = caches["default"]
        count = counter.hit(f"api:{caller}:{now // window:.0f}", 2 * window)
        self.left = window - now % window
        view.headers |= {
            "RateLimit-Policy": f'"caller";q={most};w={window}',
            "RateLimit": f'"caller";r={max(0, most - count)};t={math.ceil(self.left)}',
        }
        return bool(count <= most)

    def wait(self) -> float:
        """For Retry-After."""
        return math.ceil(self.left)


def _caller(request: Request) -> str:
    """The key or else the person; "" for nobody."""
    if request.auth is not None:
        return f"{type(request.auth).__name__}-{request.auth.pk}"
    return f"user-{request.user.pk}" if request.user.is_authenticated else ""
