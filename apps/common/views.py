"""Health of the service, the theme of this browser, and the page of all components."""

from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.db import Error as DatabaseError
from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST
from redis import Redis
from redis.exceptions import RedisError

from apps.common.addresses import own_address
from apps.common.design import design_samples
from apps.common.theme import ONE_YEAR, THEME_COOKIE, THEMES

_PATIENCE = 2.0


@never_cache
@require_GET
def health_live(_request: HttpRequest) -> JsonResponse:
    """The process answers; nothing else is looked at."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_GET
def health_ready(_request: HttpRequest) -> JsonResponse:
    """What the service stands on answers: the database and, where set, Redis (queue and cache)."""
    parts = {"database": _database_answers()}
    if settings.REDIS_URL:
        parts["redis"] = _redis_answers(settings.REDIS_URL)
    ready = all(parts.values())
    words = {part: "ok" if answers else "not reachable" for part, answers in parts.items()}
    body = {"status": "ok" if ready else "unavailable", "parts": words}
    return JsonResponse(body, status=200 if ready else 503)


@require_POST
def set_theme(request: HttpRequest) -> HttpResponse:
    """Keep the chosen theme in this browser and go back to where it was chosen."""
    theme = request.POST.get("theme", "")
    if theme not in THEMES:
        return HttpResponseBadRequest("theme must be auto, light or dark")
    response = redirect(own_address(request, request.POST.get("next", "")) or "/")
    response.set_cookie(
        THEME_COOKIE, theme, max_age=ONE_YEAR, samesite="Lax", secure=request.is_secure()
    )
    return response


@login_required
@require_GET
def design_system(request: HttpRequest) -> HttpResponse:
    """Every component in its states."""
    context: dict[str, Any] = design_samples(request)
    return render(request, "common/design.html", context)


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def _redis_answers(url: str) -> bool:
    try:
        client = Redis.from_url(url, socket_timeout=_PATIENCE, socket_connect_timeout=_PATIENCE)
        with client:
            return bool(client.ping())
    except (RedisError, ValueError):
        return False
