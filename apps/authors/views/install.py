"""Putting a site's widget into pages: the snippet, origins, secrets, and trying it here."""

import time
from typing import Any

import jwt
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.authors import snippets
from apps.authors.models import Site, SiteKey
from apps.authors.pages import own_origin, site_page
from apps.authors.selectors.sites import forget_known, get_site, signing_secrets
from apps.authors.services.sites import add_key, revoke_key, update_site
from labelhub.core.errors import InvalidInput

MODES = {"companion": "Companion", "chat": "Chat"}
#: Seconds for which the preview's own signature holds.
SIGNED_FOR = 3_000


@login_required
@require_safe
def site_install(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """The snippet and what else a host needs."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    return _page(request, site)


@login_required
@require_POST
def site_allow_here(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """Let pages of this server embed the widget, so that the preview works."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    origins = [*site.allowed_origins, own_origin(request)]
    update_site(site=site, allowed_origins=origins)
    forget_known()
    messages.success(request, f"Pages of {own_origin(request)} may embed this site now.")
    return redirect("site_preview", slug, site.pk)


@login_required
@never_cache
@require_POST
def site_key_add(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """Make a secret; it is shown in this answer and nowhere else."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    purpose = request.POST.get("purpose", "")
    if purpose not in SiteKey.Purpose.values:
        raise InvalidInput("Choose a purpose that the page offers.")
    key, plain = add_key(site=site, purpose=purpose, actor=request.user)
    return _page(request, site, made={"key": key, "plain": plain})


@login_required
@require_POST
def site_key_revoke(request: SignedInRequest, slug: str, site_id: int, kid: str) -> HttpResponse:
    """From now on the secret is worth nothing."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    revoke_key(site=site, kid=kid)
    messages.success(request, f"The key {kid} no longer works.")
    return redirect("site_install", slug, site.pk)


@login_required
@never_cache
@require_safe
def site_preview(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """A page of ours that embeds the widget as a host's would."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    mode = request.GET.get("mode", "")
    mode = mode if mode in MODES else "companion"
    context = site_page(request, site, "install") | {
        "mode": mode,
        "modes": MODES.items(),
        "origin": own_origin(request),
        "allowed": own_origin(request) in site.allowed_origins,
        "ident": _ident(request, site),
    }
    return render(request, "authors/site_preview.html", context)


def _page(request: SignedInRequest, site: Site, made: dict[str, Any] | None = None) -> HttpResponse:
    origin = own_origin(request)
    script = f"{origin}{reverse('widget_script')}"
    keys = list(site.keys.select_related("created_by"))
    context = site_page(request, site, "install") | {
        "made": made,
        "origin": origin,
        "allowed": origin in site.allowed_origins,
        "snippet": snippets.snippet(site, script),
        "chat_snippet": snippets.chat_snippet(site, script),
        "forward": snippets.FORWARD,
        "queue": snippets.QUEUE,
        "csp": snippets.csp(origin),
        "python_token": snippets.python_token(site),
        "node_token": snippets.node_token(site),
        "server_call": snippets.server_call(site, origin),
        "sign_keys": [key for key in keys if key.purpose == SiteKey.Purpose.SIGN],
        "server_keys": [key for key in keys if key.purpose == SiteKey.Purpose.SERVER],
    }
    return render(request, "authors/site_install.html", context)


def _ident(request: SignedInRequest, site: Site) -> str:
    """Whoever looks at the preview, signed in as a host would sign its visitor; empty where nobody
    is to be signed in, or the site has no secret to do it with."""
    if site.identity != Site.Identity.VERIFIED:
        return ""
    secrets = signing_secrets(site)
    if not secrets:
        return ""
    kid, secret = next(iter(secrets.items()))
    now = int(time.time())
    claims = {
        "sub": f"preview-{request.user.pk}",
        "aud": site.public_key,
        "iat": now,
        "exp": now + SIGNED_FOR,
    }
    return jwt.encode(claims, secret, algorithm="HS256", headers={"kid": kid})
