"""Health checks, the choice of the theme, and the page of all components."""

import shutil

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.db import Error as DatabaseError
from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST
from django.views.i18n import set_language

from apps.common.addresses import local_address
from apps.common.design import design_samples
from apps.common.theme import ONE_YEAR, THEME_COOKIE, THEMES
from apps.common.workers import worker_silence

_PATIENCE = 2.0
#: Bytes that must be free in the data folder.
LEAST_ROOM = 100 * 1024**2


@never_cache
@require_GET
def health_live(_request: HttpRequest) -> JsonResponse:
    """Whether the process responds; no other check."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_GET
def health_ready(_request: HttpRequest) -> JsonResponse:
    """Whether this server can work: 503 without the database. Without Redis, a worker or room on
    the disk it is "degraded", with 200, as people can go on labelling."""
    if not _database_answers():
        body = {"status": "unavailable", "parts": {"database": "not reachable"}}
        return JsonResponse(body, status=503)
    silence = worker_silence()
    worker = f"none for {silence}" if silence else "ok"
    parts = {"database": "ok", "worker": worker, "disk": disk_state()}
    if settings.REDIS_URL:
        parts["redis"] = "ok" if redis_answers(settings.REDIS_URL) else "not reachable"
    whole = all(state == "ok" for state in parts.values())
    return JsonResponse({"status": "ok" if whole else "degraded", "parts": parts})


@require_POST
def set_theme(request: HttpRequest) -> HttpResponse:
    """Store the chosen theme in a cookie and go back to the page."""
    theme = request.POST.get("theme", "")
    if theme not in THEMES:
        return HttpResponseBadRequest("theme: must be auto, light or dark.")
    response = redirect(local_address(request, request.POST.get("next", "")) or "/")
    response.set_cookie(
        THEME_COOKIE, theme, max_age=ONE_YEAR, samesite="Lax", secure=request.is_secure()
    )
    return response


@require_POST
def choose_language(request: HttpRequest) -> HttpResponse:
    """Django's choice of a language, also stored for the person's e-mails."""
    language = request.POST.get("language", "")
    if request.user.is_authenticated and language in dict(settings.LANGUAGES):
        request.user.language = language
        request.user.save(update_fields=["language"])
    return set_language(request)


@login_required
@require_GET
def design_system(request: HttpRequest) -> HttpResponse:
    """Every component in every state."""
    return render(request, "common/design.html", design_samples(request))


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def disk_state() -> str:
    """The room in the data folder."""
    try:
        free = shutil.disk_usage(settings.DATA_DIR).free
    except OSError:
        return "not reachable"
    return "ok" if free >= LEAST_ROOM else f"{free // 1024**2} MB left"


def redis_answers(url: str) -> bool:
    """Whether Redis answers at ``url``."""
    # Most servers have no Redis.
    from redis import Redis  # noqa: PLC0415
    from redis.backoff import NoBackoff  # noqa: PLC0415
    from redis.exceptions import RedisError  # noqa: PLC0415
    from redis.retry import Retry  # noqa: PLC0415

    try:
        client = Redis.from_url(
            url,
            socket_timeout=_PATIENCE,
            socket_connect_timeout=_PATIENCE,
            retry=Retry(NoBackoff(), 0),
        )
        with client:
            return bool(client.ping())
    except (RedisError, ValueError):
        return False
