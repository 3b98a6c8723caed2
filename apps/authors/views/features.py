"""The features of a site: from the library, or its own."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.authors.feature_forms import FeatureFileForm, FeatureForm
from apps.authors.forms import library_choices, picked_features
from apps.authors.models import Feature, Site
from apps.authors.pages import site_page
from apps.authors.selectors.sites import get_site
from apps.authors.services.features import COLUMNS, MOST_BYTES, import_features
from apps.authors.services.sites import MOST_FEATURES, set_features
from apps.authors.views.dashboard import feature_rows
from apps.common.figures import count_words
from apps.common.forms import show_refusal
from apps.common.lists import requested_page
from labelhub.core.errors import InvalidInput, LabelhubError, NotFound
from labelhub.core.interview.features import Feature as Definition

#: Days whose questions the page counts.
DAYS = 91
#: Features on a page, and of those that were retired.
PAGE_SIZE, MOST_RETIRED = 25, 100


@login_required
@require_safe
def site_questions(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """A page of the features in their order, with counts of their questions; then the library."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    features = list(site.features.order_by("-active", "position"))
    active = [feature for feature in features if feature.active]
    words = " ".join(request.GET.get("q", "").split())[:60]
    sought = words.casefold().split()
    found = [
        feature
        for feature in active
        if all(
            word in f"{feature.key} {feature.parsed.name} {feature.parsed.definition}".casefold()
            for word in sought
        )
    ]
    page = requested_page(request.GET, found, PAGE_SIZE)
    retired = [feature for feature in features if not feature.active]
    rows = feature_rows(site, [*page, *retired[:MOST_RETIRED]], DAYS)
    asked = {feature.key for feature in active}
    context = site_page(request, site, "questions") | {
        "q": words,
        "page": page,
        "count": len(active),
        "first": active[0].key if active else "",
        "last": active[-1].key if active else "",
        "searched": len(active) > PAGE_SIZE or bool(words),
        "rows": rows[: len(page)],
        "retired": rows[len(page) :],
        "retired_count": len(retired),
        "library": [
            (title, [(pick, name) for pick, name in offered if pick.partition("/")[2] not in asked])
            for title, offered in library_choices()
        ],
    }
    return render(request, "authors/site_questions.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def feature_import(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """Import features from a file: all of them, or none with the errors of each row."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    sent = request.method == "POST"
    form = FeatureFileForm(request.POST, request.FILES) if sent else FeatureFileForm()
    faults: list[dict[str, Any]] = []
    if form.is_valid():
        file = form.cleaned_data["file"]
        try:
            made = import_features(site=site, name=file.name, data=file.read(MOST_BYTES + 1))
        except InvalidInput as error:
            faults = [
                fault | {"field": str(fault["field"]).split(".", 2)[-1]}
                for fault in error.data.get("errors", ())
                if "row" in fault
            ]
            form.add_error(
                "file",
                _("Nothing was imported.")
                if faults
                else " ".join(str(fault["message"]) for fault in error.data.get("errors", ())),
            )
        else:
            messages.success(
                request,
                gettext("Imported: %(added)s new features, %(changed)s changed.")
                % {"added": count_words(made.added), "changed": count_words(made.changed)},
            )
            return redirect("site_questions", slug, site.pk)
    context = site_page(request, site, "questions") | {"form": form, "faults": faults}
    context |= {"columns": COLUMNS, "most": MOST_FEATURES}
    status = 422 if form.errors else 200
    return render(request, "authors/feature_import.html", context, status=status)


@login_required
@require_POST
def feature_add(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    picked = picked_features(request.POST.getlist("picked"))
    if not picked:
        raise InvalidInput("Select at least one feature of the library.")
    asked = {definition.key for definition in picked}
    kept = [definition for definition in _definitions(site) if definition.key not in asked]
    set_features(site=site, features=[*kept, *picked])
    messages.success(
        request,
        gettext("Added: %(names)s.")
        % {"names": ", ".join(definition.name for definition in picked)},
    )
    return redirect("site_questions", slug, site.pk)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def feature_create(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    return _edit_page(request, site, None)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def feature_edit(
    request: SignedInRequest, slug: str, site_id: int, feature_key: str
) -> HttpResponse:
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    return _edit_page(request, site, _feature(site, feature_key))


@login_required
@require_POST
def feature_change(
    request: SignedInRequest, slug: str, site_id: int, feature_key: str
) -> HttpResponse:
    """Move a feature, retire it, or ask about it again."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    feature = _feature(site, feature_key)
    change = _CHANGES.get(request.POST.get("do", ""))
    if change is None:
        raise InvalidInput("Choose something that the page offers.")
    set_features(site=site, features=change(_definitions(site), feature.parsed))
    # Back to the page and search of the button.
    kept = {name: request.POST[name] for name in ("page", "q") if request.POST.get(name)}
    address = reverse("site_questions", args=[slug, site.pk])
    return redirect(f"{address}?{urlencode(kept)}" if kept else address)


def _feature(site: Site, key: str) -> Feature:
    feature = Feature.objects.filter(site=site, key=key).first()
    if feature is None:
        raise NotFound("This site has no such feature.")
    return feature


def _definitions(site: Site) -> list[Definition]:
    return [feature.parsed for feature in site.features.asked()]


def _mover(by: int) -> Callable[[Sequence[Definition], Definition], list[Definition]]:
    def change(asked: Sequence[Definition], feature: Definition) -> list[Definition]:
        keys = [definition.key for definition in asked]
        if feature.key not in keys:
            return list(asked)
        index = keys.index(feature.key)
        rest = _without(asked, feature)
        rest.insert(max(0, index + by), feature)
        return rest

    return change


def _without(asked: Sequence[Definition], feature: Definition) -> list[Definition]:
    return [definition for definition in asked if definition.key != feature.key]


def _retired(asked: Sequence[Definition], feature: Definition) -> list[Definition]:
    rest = _without(asked, feature)
    if not rest:
        raise InvalidInput(
            "A site needs at least one feature; to stop asking, switch the site off."
        )
    return rest


#: The changes of the list of features, by the value of the button.
_CHANGES: Mapping[str, Callable[[Sequence[Definition], Definition], list[Definition]]] = {
    "up": _mover(-1),
    "down": _mover(1),
    "first": lambda asked, feature: [feature, *_without(asked, feature)],
    "retire": _retired,
    "ask": lambda asked, feature: [*_without(asked, feature), feature],
}


def _edit_page(request: SignedInRequest, site: Site, feature: Feature | None) -> HttpResponse:
    known = feature.parsed if feature else None
    data = request.POST if request.method == "POST" else None
    form = FeatureForm(data, feature=known, languages=site.languages)
    if data is not None and _saved(site, form, known):
        messages.success(request, _("The feature is saved; the next questions use it."))
        return redirect("site_questions", site.project.slug, site.pk)
    context = site_page(request, site, "questions") | {"form": form, "feature": feature}
    status = 422 if form.errors else 200
    return render(request, "authors/feature_edit.html", context, status=status)


def _saved(site: Site, form: FeatureForm, known: Definition | None) -> bool:
    """Save the feature in its place, or last if it is new or was retired; False on errors."""
    if not form.is_valid():
        return False
    try:
        new = form.definition_read()
        asked = _definitions(site)
        keys = [definition.key for definition in asked]
        if known is None and site.features.filter(key=new.key).exists():
            raise InvalidInput.at("key", "This site already has a feature with this key.")
        if new.key in keys:
            asked[keys.index(new.key)] = new
        else:
            asked.append(new)
        set_features(site=site, features=asked)
    except LabelhubError as error:
        show_refusal(form, error)
        return False
    return True
