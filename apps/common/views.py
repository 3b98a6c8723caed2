"""Health checks, the choice of the theme, and the page of all components."""

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST
from django.views.i18n import set_language

from apps.common.addresses import local_address
from apps.common.design import design_samples
from apps.common.health import AWAY, OK, STOPPING, database_answers, optional_parts, stopping
from apps.common.holds import release_hold
from apps.common.theme import ONE_YEAR, THEME_COOKIE, THEMES
from labelhub.core.errors import Forbidden


@never_cache
@require_GET
def health_ready(_request: HttpRequest) -> JsonResponse:
    """Whether this server can work: 503 without the database, and once it is about to stop. If
    another part is out of order, the status is "degraded", with 200: people can go on labelling, so
    no balancer may take it out."""
    if stopping.is_set():
        return JsonResponse({"status": STOPPING}, status=503)
    if not database_answers():
        body = {"status": "unavailable", "parts": {"database": AWAY}}
        return JsonResponse(body, status=503)
    parts = {"database": OK, **optional_parts()}
    whole = all(state == OK for state in parts.values())
    return JsonResponse({"status": OK if whole else "degraded", "parts": parts})


@login_required
@require_POST
def release_held_server(request: HttpRequest) -> HttpResponse:
    """Let a restored server start its runs, webhooks, mails and schedules."""
    if not request.user.is_superuser:
        raise Forbidden("Only operators release a restored server.")
    release_hold()
    return redirect(local_address(request, request.POST.get("next", "")) or "/")


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
