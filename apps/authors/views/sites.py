"""A project's sites: list, creation, settings, installation and preview."""

import copy
import time
from typing import Any

import jwt
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.authors import snippets
from apps.authors.forms import (
    ConsentForm,
    SiteForm,
    SiteSettingsForm,
    name_language_field,
)
from apps.authors.models import Site, SiteKey
from apps.authors.pages import own_origin, site_page, sites_page
from apps.authors.pictures import figure_of
from apps.authors.selectors.authors import consent_history
from apps.authors.selectors.funnel import funnels_of, start_of
from apps.authors.selectors.sites import (
    clear_known_sites,
    current_consent,
    get_site,
    signing_secrets,
    sites_of,
)
from apps.authors.services.sites import (
    add_key,
    create_site,
    delete_site,
    revoke_key,
    set_consent_text,
    update_site,
)
from apps.common.forms import show_refusal
from apps.projects.forms import TypedForm
from apps.projects.models import Project
from apps.projects.selectors import current_schema, get_project
from labelhub.core.errors import InvalidInput, LabelhubError
from labelhub.core.interview.funnel import rates

#: Days that the list counts.
DAYS = 7


@login_required
@require_safe
def site_list(request: SignedInRequest, slug: str) -> HttpResponse:
    """Every site with its state and a small funnel of the last week."""
    project = get_project(request.user, slug, Right.VIEW)
    fits = current_schema(project).task.item_options
    found = list(sites_of(project))
    funnels = funnels_of(project, start_of(DAYS, timezone.now())) if found else {}
    rows = []
    for site in found:
        funnel = funnels[site.pk]
        figures = {name: figure_of(rate) for name, rate in rates(funnel).items()}
        rows.append({"site": site, "funnel": funnel, "answered": figures["answered"]})
    context = sites_page(request, project) | {"rows": rows, "fits": fits, "days": DAYS}
    return render(request, "authors/site_list.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def site_create(request: SignedInRequest, slug: str) -> HttpResponse:
    """Create a site with one form, then show its snippet."""
    project = get_project(request.user, slug, Right.MANAGE)
    form = SiteForm(request.POST if request.method == "POST" else None)
    site = _created(request, project, form) if request.method == "POST" else None
    if site is not None:
        messages.success(
            request,
            gettext("The site “%(name)s” is created: put its snippet into a page.")
            % {"name": site.name},
        )
        return redirect("site_install", slug, site.pk)
    fits = current_schema(project).task.item_options
    context: dict[str, Any] = sites_page(request, project)
    context |= {"form": form, "fits": fits, "origin": own_origin(request)}
    return render(request, "authors/site_create.html", context, status=422 if form.errors else 200)


def _created(request: SignedInRequest, project: Project, form: SiteForm) -> Site | None:
    """The new site, or None with the errors on the form."""
    if not form.is_valid():
        return None
    data = form.cleaned_data
    here = [own_origin(request)] if data["allow_here"] else []
    try:
        return create_site(
            project=project,
            actor=request.user,
            name=data["name"],
            features=form.features(),
            allowed_origins=[*data["allowed_origins"], *here],
            languages=form.languages(),
            identity=data["identity"],
            consent_by=data["consent_by"],
        )
    except LabelhubError as error:
        show_refusal(form, error)
        return None


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def site_settings(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    # A copy, because the form changes its instance before it is known to be valid.
    form = SiteSettingsForm(
        request.POST if request.method == "POST" else None, instance=copy.copy(site)
    )
    if request.method == "POST" and _saved(site, form):
        messages.success(request, _("The settings are saved."))
        return redirect("site_settings", slug, site.pk)
    return _settings_page(request, site, form=form)


@login_required
@require_POST
def site_consent(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """Save a new version of the consent text; authors of an older version are asked again."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    before = current_consent(site)
    form = ConsentForm(request.POST, site=site, texts=before.texts)
    if not form.is_valid():
        return _settings_page(request, site, consent=form)
    now = set_consent_text(site=site, texts=form.texts(), actor=request.user)
    clear_known_sites()
    if now.version == before.version:
        messages.info(request, _("The text has not changed."))
    else:
        messages.success(
            request,
            gettext("From now on, authors are asked for consent with version %(version)s.")
            % {"version": now.version},
        )
    return redirect("site_settings", slug, site.pk)


@login_required
@require_POST
def site_delete(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """Delete the site with its authors and messages, after the manager has typed its name."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    typed = _typed(site, request.POST)
    if not typed.is_valid():
        return _settings_page(request, site, delete=typed)
    delete_site(site=site)
    clear_known_sites()
    messages.success(
        request,
        gettext("The site “%(name)s” is deleted; the labelled items stay.") % {"name": site.name},
    )
    return redirect("site_list", slug)


def _saved(site: Site, form: SiteSettingsForm) -> bool:
    if not form.is_valid():
        return False
    try:
        update_site(site=copy.copy(site), **form.changes())
    except LabelhubError as error:
        show_refusal(form, name_language_field(error))
        return False
    clear_known_sites()
    return True


def _typed(site: Site, data: object = None) -> TypedForm:
    return TypedForm(data, words=site.name, label=_("Type the name of the site"))


def _settings_page(
    request: SignedInRequest,
    site: Site,
    form: SiteSettingsForm | None = None,
    consent: ConsentForm | None = None,
    delete: TypedForm | None = None,
) -> HttpResponse:
    texts = current_consent(site).texts
    faulty = any(sent is not None and sent.errors for sent in (form, consent, delete))
    context = site_page(request, site, "settings") | {
        "form": form or SiteSettingsForm(instance=copy.copy(site)),
        "consent": consent or ConsentForm(site=site, texts=texts),
        "versions": consent_history(site),
        "delete_form": delete or _typed(site),
    }
    return render(request, "authors/site_settings.html", context, status=422 if faulty else 200)


MODES = {"companion": _("Companion"), "chat": _("Chat")}
#: Seconds for which the preview's token is valid.
SIGNED_FOR = 3_000


@login_required
@require_safe
def site_install(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    return _install_page(request, site)


@login_required
@require_POST
def site_allow_here(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """Let pages of this server embed the widget, so that the preview works."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    origins = [*site.allowed_origins, own_origin(request)]
    update_site(site=site, allowed_origins=origins)
    clear_known_sites()
    messages.success(
        request,
        gettext("Pages of %(origin)s may now embed this site.") % {"origin": own_origin(request)},
    )
    return redirect("site_preview", slug, site.pk)


@login_required
@never_cache
@require_POST
def site_key_add(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """Create a key; its secret is shown only in this response."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    purpose = request.POST.get("purpose", "")
    if purpose not in SiteKey.Purpose.values:
        raise InvalidInput("Choose a purpose that the page offers.")
    key, plain = add_key(site=site, purpose=purpose, actor=request.user)
    return _install_page(request, site, made={"key": key, "plain": plain})


@login_required
@require_POST
def site_key_revoke(request: SignedInRequest, slug: str, site_id: int, kid: str) -> HttpResponse:
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    revoke_key(site=site, kid=kid)
    messages.success(request, gettext("The key “%(name)s” no longer works.") % {"name": kid})
    return redirect("site_install", slug, site.pk)


@login_required
@never_cache
@require_safe
def site_preview(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
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


def _install_page(
    request: SignedInRequest, site: Site, made: dict[str, Any] | None = None
) -> HttpResponse:
    origin = own_origin(request)
    script = f"{origin}{reverse('widget_script')}"
    keys = list(site.keys.select_related("created_by"))
    context = site_page(request, site, "install") | {
        "made": made,
        "origin": origin,
        "allowed": origin in site.allowed_origins,
        "snippet": snippets.snippet(site, script),
        "chat_snippet": snippets.snippet(site, script, "chat"),
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
    """A token for the viewer of the preview, as a host would sign it; empty if the site does not
    require tokens or has no signing secret."""
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
