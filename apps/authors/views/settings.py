"""Everything that can be changed of a site, what authors agree to, and its end."""

import copy

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.authors.forms.settings import ConsentForm, SiteSettingsForm, named_as_in_form
from apps.authors.forms.sites import TypedForm
from apps.authors.models import Site
from apps.authors.pages import site_page
from apps.authors.selectors.people import consent_history
from apps.authors.selectors.sites import current_consent, forget_known, get_site
from apps.authors.services.sites import delete_site, set_consent_text, update_site
from apps.common.forms import show_refusal
from labelhub.core.errors import LabelhubError


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def site_settings(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """All fields, in groups."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    # A copy: the form fills its instance before it knows whether all is well.
    form = SiteSettingsForm(
        request.POST if request.method == "POST" else None, instance=copy.copy(site)
    )
    if request.method == "POST" and _saved(site, form):
        messages.success(request, "The settings are saved.")
        return redirect("site_settings", slug, site.pk)
    return _page(request, site, form=form)


@login_required
@require_POST
def site_consent(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """A new version of what authors agree to; whoever agreed to the old one is asked again."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    before = current_consent(site)
    form = ConsentForm(request.POST, site=site, texts=before.texts)
    if not form.is_valid():
        return _page(request, site, consent=form)
    now = set_consent_text(site=site, texts=form.texts(), actor=request.user)
    forget_known()
    if now.version == before.version:
        messages.info(request, "The text is as it was.")
    else:
        messages.success(request, f"Version {now.version} is what authors are asked from now on.")
    return redirect("site_settings", slug, site.pk)


@login_required
@require_POST
def site_delete(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """Delete the site with its authors and messages, once its name was typed."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    typed = _typed(site, request.POST)
    if not typed.is_valid():
        return _page(request, site, delete=typed)
    delete_site(site=site)
    forget_known()
    messages.success(request, f"The site “{site.name}” is deleted; the labelled items stay.")
    return redirect("site_list", slug)


def _saved(site: Site, form: SiteSettingsForm) -> bool:
    if not form.is_valid():
        return False
    try:
        update_site(site=copy.copy(site), **form.changes())
    except LabelhubError as error:
        show_refusal(form, named_as_in_form(error))
        return False
    forget_known()
    return True


def _typed(site: Site, data: object = None) -> TypedForm:
    return TypedForm(data, words=site.name, label="Type the name of the site")


def _page(
    request: SignedInRequest,
    site: Site,
    form: SiteSettingsForm | None = None,
    consent: ConsentForm | None = None,
    delete: TypedForm | None = None,
) -> HttpResponse:
    texts = current_consent(site).texts
    faulty = any(each is not None and each.errors for each in (form, consent, delete))
    context = site_page(request, site, "settings") | {
        "form": form or SiteSettingsForm(instance=copy.copy(site)),
        "consent": consent or ConsentForm(site=site, texts=texts),
        "versions": consent_history(site),
        "delete_form": delete or _typed(site),
    }
    return render(request, "authors/site_settings.html", context, status=422 if faulty else 200)
