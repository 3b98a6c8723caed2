"""Pages of providers and models. Operators see the shared ones and managers those of their project,
on the same pages."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.common.figures import count_words, localise
from apps.common.forms import show_refusal
from apps.llm import selectors, services
from apps.llm.capabilities import capability_words
from apps.llm.forms import ModelForm, NewModelForm, ProviderForm
from apps.llm.models import ModelSpec, Provider
from apps.llm.presets import OTHER, preset_named, preset_of, presets
from apps.llm.probe import ProviderCheck, check_provider
from apps.projects.models import Project
from apps.projects.pages import project_page
from apps.projects.selectors import get_project
from labelhub.core.errors import Forbidden, LabelhubError, NotFound


@dataclass(frozen=True)
class Place:
    """Whose providers a page is about: those of ``project``, without one the shared ones."""

    request: SignedInRequest
    project: Project | None = None

    def url(self, name: str, *ids: int) -> str:
        """The address of a page of this place."""
        if self.project is None:
            return reverse(name, args=ids)
        return reverse(f"project_{name}", args=[self.project.slug, *ids])

    def render(self, template: str, context: Mapping[str, Any], status: int = 200) -> HttpResponse:
        """The page, in the frame of the project or of the server."""
        frame: dict[str, Any] = {"layout": "llm/operators.html"}
        if self.project is not None:
            frame = project_page(self.request, self.project, "providers")
            frame["layout"] = "layouts/project.html"
        frame |= {"urls": {"list": self.url("provider_list"), "new": self.url("provider_create")}}
        return render(self.request, template, frame | dict(context), status=status)

    def provider(self, provider_id: int) -> Provider:
        """The provider in the address.

        Raises:
            NotFound: there is none here, or it is the built-in one.
        """
        provider = selectors.get_provider(provider_id, self.project)
        if provider.kind == Provider.Kind.OFFLINE:
            raise NotFound("The %(provider)s is built in and has no settings.", provider=provider)
        return provider

    def model(self, provider_id: int, model_id: int) -> ModelSpec:
        """The model in the address.

        Raises:
            NotFound: there is none.
        """
        model = self.provider(provider_id).models.filter(pk=model_id).first()
        if model is None:
            raise NotFound("There is no such model.")
        return model


Page = Callable[..., HttpResponse]


def shared(page: Page) -> Page:
    """The page of the shared providers, for superusers only: an address decides where the server
    connects to."""

    @login_required
    @wraps(page)
    def guarded(request: SignedInRequest, **ids: int) -> HttpResponse:
        if not (request.user.is_active and request.user.is_superuser):
            raise Forbidden("Only operators of this installation may see and change providers.")
        return page(Place(request), **ids)

    return guarded


def of_project(page: Page) -> Page:
    """The same page for the providers of a project, for its managers."""

    @login_required
    @wraps(page)
    def guarded(request: SignedInRequest, slug: str, **ids: int) -> HttpResponse:
        return page(Place(request, get_project(request.user, slug, Right.MANAGE)), **ids)

    return guarded


def list_page(place: Place) -> HttpResponse:
    """The providers with their models."""
    return _list_page(place, {})


def create_page(place: Place) -> HttpResponse:
    """Choose a kind, paste a key, name models, test, save."""
    selectors.check_may_change(place.request.user)
    kind = place.request.POST.get("preset") or place.request.GET.get("kind", "")
    if not kind and place.request.method != "POST":
        return place.render("llm/provider_form.html", {"presets": presets().values()})
    preset = preset_named(kind or OTHER)
    provider = Provider(project=place.project, preset=preset.name)
    form = ProviderForm(place.request.POST or None, instance=provider, preset=preset)
    return _provider_page(place, provider, form)


def edit_page(place: Place, provider_id: int) -> HttpResponse:
    """Change a provider, replace its key, add models."""
    selectors.check_may_change(place.request.user)
    provider = place.provider(provider_id)
    return _provider_page(
        place, provider, ProviderForm(place.request.POST or None, instance=provider)
    )


def check_page(place: Place, provider_id: int) -> HttpResponse:
    """Test a provider as it is saved, and show the result beside it."""
    selectors.check_may_change(place.request.user)
    provider = selectors.get_provider(provider_id, place.project)
    found = check_provider(provider)
    if found.ok:
        services.note_passed_test(provider)
    return _list_page(place, {provider.pk: found})


def remove_key(place: Place, provider_id: int) -> HttpResponse:
    """Forget the key. Managers may do this even if they may not add providers."""
    provider = services.remove_key(place.provider(provider_id))
    messages.success(place.request, gettext("The key of %(name)s is removed.") % {"name": provider})
    return redirect(place.url("provider_list"))


def remove(place: Place, provider_id: int) -> HttpResponse:
    """Forget a provider. Managers may do this even if they may not add providers."""
    provider = place.provider(provider_id)
    services.remove_provider(provider)
    messages.success(
        place.request, gettext("The provider %(name)s is removed.") % {"name": provider}
    )
    return redirect(place.url("provider_list"))


def model_page(place: Place, provider_id: int, model_id: int) -> HttpResponse:
    """Change a model."""
    selectors.check_may_change(place.request.user)
    model = place.model(provider_id, model_id)
    form = ModelForm(place.request.POST or None, instance=model)
    if place.request.method == "POST" and form.is_valid():
        try:
            saved = services.save_model(form.instance)
        except LabelhubError as error:
            show_refusal(form, error)
        else:
            messages.success(
                place.request, gettext("Model %(name)s is saved.") % {"name": saved.name}
            )
            return redirect(place.url("provider_list"))
    context = {"form": form, "model": model, "provider": model.provider}
    return place.render("llm/model_form.html", context, 422 if form.errors else 200)


def forget(place: Place, provider_id: int, model_id: int) -> HttpResponse:
    """Forget the refusals of the endpoint, so that all parameters are tried again."""
    selectors.check_may_change(place.request.user)
    model = services.forget_learnt(place.model(provider_id, model_id))
    messages.success(
        place.request,
        gettext("What was learnt about %(name)s is forgotten.") % {"name": model.name},
    )
    return redirect(place.url("provider_list"))


_form = (sensitive_post_parameters("key"), never_cache, require_http_methods(["GET", "POST"]))


def _both(page: Page, *guards: Callable[[Page], Page]) -> tuple[Page, Page]:
    """The page of the shared providers and that of a project."""
    found = shared(page), of_project(page)
    for guard in guards:
        found = guard(found[0]), guard(found[1])
    return found


provider_list, project_provider_list = _both(list_page, require_GET)
provider_create, project_provider_create = _both(create_page, *_form)
provider_edit, project_provider_edit = _both(edit_page, *_form)
provider_check, project_provider_check = _both(check_page, require_POST)
provider_key_remove, project_provider_key_remove = _both(remove_key, require_POST)
provider_remove, project_provider_remove = _both(remove, require_POST)
model_edit, project_model_edit = _both(model_page, require_http_methods(["GET", "POST"]))
model_forget, project_model_forget = _both(forget, require_POST)


def _list_page(place: Place, checks: Mapping[int, ProviderCheck]) -> HttpResponse:
    providers = selectors.list_providers(place.project)
    rows = [provider_row(provider, place) for provider in providers]
    context: dict[str, Any] = {
        "rows": [row | {"check": checks.get(row["provider"].pk)} for row in rows],
        "may_change": selectors.may_change_providers(place.request.user),
        "operators": selectors.operators(),
    }
    if place.project is not None:
        context["shared"] = selectors.list_providers(None)
    else:
        context["of_projects"] = selectors.project_providers()
    return place.render("llm/provider_list.html", context)


def _provider_page(place: Place, provider: Provider, form: ProviderForm) -> HttpResponse:
    request = place.request
    model_form = NewModelForm(request.POST or None, provider=provider)
    context: dict[str, Any] = {"form": form, "model_form": model_form, "provider": provider}
    context["presets"] = () if provider.pk else presets().values()
    if provider.pk:
        context["row"] = provider_row(selectors.get_provider(provider.pk, place.project), place)
    valid = all([form.is_valid(), model_form.is_valid()])
    stamp = context["stamp"] = request.POST.get("tested", "")
    if "test" in request.POST:
        if valid and (check := _test_form(form, model_form.models())):
            context |= {"check": check, "stamp": _stamp(form, passed=check.ok)}
        if "HX-Request" in request.headers:
            return place.render("llm/provider_form.html#result", context)
    elif valid:
        try:
            saved = services.save_provider(
                form.instance,
                key=form.cleaned_data["key"],
                models=model_form.models(),
                test_failed={
                    _stamp(form, passed=True): False,
                    _stamp(form, passed=False): True,
                }.get(stamp),
            )
        except LabelhubError as error:
            show_refusal(form, error)
        else:
            messages.success(request, gettext("Provider %(name)s is saved.") % {"name": saved.name})
            return redirect(place.url("provider_list"))
    status = 422 if form.errors or model_form.errors else 200
    return place.render("llm/provider_form.html", context, status)


def _test_form(form: ProviderForm, models: list[dict[str, Any]]) -> ProviderCheck | None:
    """Test what is in the form, before it is saved."""
    provider: Provider = form.instance
    try:
        services.prepare_provider(provider, key=form.cleaned_data["key"])
    except LabelhubError as error:
        show_refusal(form, error)
        return None
    if not models:
        return check_provider(provider)
    return check_provider(provider, ModelSpec(**models[0], **preset_of(provider).model))


def _stamp(form: ProviderForm, *, passed: bool) -> str:
    """Shows on saving that exactly these settings have passed or failed the test."""
    decisive = ("preset", "base_url", "api_version", "api_key_env", "key")
    settings = repr([passed, *(form.cleaned_data.get(name) for name in decisive)])
    return salted_hmac("llm.tested", settings, algorithm="sha256").hexdigest()


_LIMITS = {
    "rpm": _("%(limit)s requests per minute"),
    "tpm": _("%(limit)s tokens per minute"),
    "rpd": _("%(limit)s requests per day"),
    "tpd": _("%(limit)s tokens per day"),
}


def provider_row(provider: Provider, place: Place) -> dict[str, Any]:
    """One provider with its models and its state."""
    actions = ("edit", "check", "key_remove", "remove")
    return {
        "provider": provider,
        "offline": provider.kind == Provider.Kind.OFFLINE,
        "title": gettext(preset_of(provider).title),
        "models": [model_row(model, place) for model in provider.models.all()],
        "unpriced": any(not model.prices_known for model in provider.models.all()),
        "key": key_state(provider),
        "limits": limit_words(provider),
        "headers": ", ".join(provider.headers),
        "urls": {name: place.url(f"provider_{name}", provider.pk) for name in actions},
    }


def model_row(model: ModelSpec, place: Place) -> dict[str, Any]:
    """One model with its prices, its parameters, and what was learnt."""
    ids = (model.provider_id, model.pk)
    return {
        "model": model,
        "urls": {"edit": place.url("model_edit", *ids), "forget": place.url("model_forget", *ids)},
        "price_in": _price_words(
            model.price_in, model.price_cached_in, gettext("%(price)s, cached %(part)s").__mod__
        ),
        "price_out": _price_words(
            model.price_out, model.price_reasoning, gettext("%(price)s, reasoning %(part)s").__mod__
        ),
        "takes": _takes_words(model),
        "learnt": [
            {
                "what": capability_words(lesson["field"], lesson["value"]),
                "reason": lesson["said"],
                "on": str(lesson["at"])[:10],
            }
            for lesson in model.learnt
        ],
    }


def limit_words(provider: Provider) -> list[str]:
    """The limits of ``provider``: as configured, or from its last answers."""
    learnt: Mapping[str, Any] = provider.learnt_limits
    words = []
    for name, words_of in _LIMITS.items():
        if configured := getattr(provider, name):
            words.append(words_of % {"limit": count_words(configured)})
        elif name in learnt:
            day = str(learnt["at"])[:10]
            limit = words_of % {"limit": count_words(learnt[name])}
            reported = gettext("%(limit)s (reported by the endpoint %(day)s)")
            words.append(reported % {"limit": limit, "day": day})
    return words


def key_state(provider: Provider) -> dict[str, Any]:
    """Where the key is and whether it is there; never its value."""
    name = provider.api_key_env
    match provider.key_state:
        case Provider.KeyState.STORED:
            return {"name": "", "tone": "ok", "text": gettext("key stored"), "stored": True}
        case Provider.KeyState.REMOVED:
            return {"name": "", "tone": "bad", "text": gettext("key removed")}
        case Provider.KeyState.VARIABLE if os.environ.get(name, "").strip():
            return {"name": name, "tone": "ok", "text": gettext("set")}
        case Provider.KeyState.VARIABLE:
            return {"name": name, "tone": "bad", "text": gettext("not set")}
    return {"name": "", "tone": "quiet", "text": gettext("no key")}


def _price_words(
    price: Decimal | None, part: Decimal | None, both: Callable[[Mapping[str, str]], str]
) -> str:
    if price is None:
        return ""
    if part is None:
        return _number(price)
    return both({"price": _number(price), "part": _number(part)})


def _number(price: Decimal) -> str:
    return localise(f"{float(price):g}")


def _takes_words(model: ModelSpec) -> str:
    if model.purpose == ModelSpec.Purpose.EMBEDDING:
        return gettext("texts, for embeddings")
    temperature = gettext("temperature") if model.takes_temperature else gettext("no temperature")
    if model.takes_temperature and model.fixed_temperature is not None:
        temperature = gettext("fixed temperature %(value)s") % {
            "value": localise(f"{model.fixed_temperature:g}")
        }
    words = [temperature, f"{model.max_tokens_param} {model.max_output_tokens}"]
    words.append(gettext("instructions: %(role)s") % {"role": model.get_system_role_display()})
    if model.structured != ModelSpec.Structured.NONE:
        words.append(model.get_structured_display())
    if model.reasoning_effort and model.reasoning_effort != ModelSpec.Effort.OMIT:
        effort = model.get_reasoning_effort_display()
        words.append(gettext("reasoning effort %(effort)s") % {"effort": effort})
    if model.context_tokens:
        context = count_words(model.context_tokens)
        words.append(gettext("context %(tokens)s") % {"tokens": context})
    if model.extra_body:
        words.append(gettext("and %(names)s") % {"names": ", ".join(model.extra_body)})
    return ", ".join(str(word) for word in words)
