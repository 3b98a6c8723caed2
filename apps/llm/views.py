"""Providers and models, for operators (superusers) only."""

import os
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.llm import selectors, services
from apps.llm.capabilities import capability_words
from apps.llm.forms import ModelForm, ProviderForm
from apps.llm.models import ModelSpec, Provider
from apps.llm.probe import check_provider
from labelhub.core.errors import Forbidden, NotFound

View = Callable[..., HttpResponse]


def operator_required(view: View) -> View:
    """Superusers only: an address decides where the server connects to."""

    @login_required
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not (request.user.is_active and request.user.is_superuser):
            raise Forbidden("Only operators of this installation may see and change providers.")
        return view(request, *args, **kwargs)

    return guarded


@require_GET
@operator_required
def provider_list(request: HttpRequest) -> HttpResponse:
    """All providers with their models."""
    rows = [provider_row(provider) for provider in selectors.list_providers()]
    return render(request, "llm/provider_list.html", {"rows": rows})


@require_http_methods(["GET", "POST"])
@operator_required
def provider_create(request: HttpRequest) -> HttpResponse:
    """Add an endpoint."""
    return _provider_page(request, Provider())


@require_http_methods(["GET", "POST"])
@operator_required
def provider_edit(request: HttpRequest, provider_id: int) -> HttpResponse:
    """Change an endpoint."""
    return _provider_page(request, _editable(provider_id))


@require_POST
@operator_required
def provider_check(request: HttpRequest, provider_id: int) -> HttpResponse:
    """Check whether the provider answers."""
    provider = selectors.get_provider(provider_id)
    found = check_provider(provider)
    level = messages.SUCCESS if found.ok else messages.ERROR
    messages.add_message(request, level, f"{provider.name}: {found.words}")
    return redirect("provider_list")


@require_http_methods(["GET", "POST"])
@operator_required
def model_create(request: HttpRequest, provider_id: int) -> HttpResponse:
    """Add a model to a provider."""
    return _model_page(request, ModelSpec(provider=_editable(provider_id)))


@require_http_methods(["GET", "POST"])
@operator_required
def model_edit(request: HttpRequest, provider_id: int, model_id: int) -> HttpResponse:
    """Change a model."""
    return _model_page(request, _model(provider_id, model_id))


@require_POST
@operator_required
def model_forget(request: HttpRequest, provider_id: int, model_id: int) -> HttpResponse:
    """Forget the refusals of the endpoint, so that all parameters are tried again."""
    model = services.forget_learnt(_model(provider_id, model_id))
    messages.success(request, f"What was learnt about {model.name} is forgotten.")
    return redirect("provider_list")


def _provider_page(request: HttpRequest, provider: Provider) -> HttpResponse:
    form = ProviderForm(request.POST or None, instance=provider)
    if request.method == "POST" and form.is_valid():
        saved = services.save_provider(form.instance)
        messages.success(request, f"Provider {saved.name} is saved.")
        return redirect("provider_list")
    context = {"form": form, "provider": provider, "key": key_state(provider)}
    return render(request, "llm/provider_form.html", context, status=_status(form))


def _model_page(request: HttpRequest, model: ModelSpec) -> HttpResponse:
    form = ModelForm(request.POST or None, instance=model)
    if request.method == "POST" and form.is_valid():
        saved = services.save_model(form.instance)
        messages.success(request, f"Model {saved.name} is saved.")
        return redirect("provider_list")
    context = {"form": form, "model": model, "provider": model.provider}
    return render(request, "llm/model_form.html", context, status=_status(form))


def _editable(provider_id: int) -> Provider:
    provider = selectors.get_provider(provider_id)
    if provider.kind == Provider.Kind.OFFLINE:
        raise NotFound("The offline model is built in and has no settings.")
    return provider


def _model(provider_id: int, model_id: int) -> ModelSpec:
    model = _editable(provider_id).models.filter(pk=model_id).first()
    if model is None:
        raise NotFound("There is no such model.")
    return model


def _status(form: ProviderForm | ModelForm) -> int:
    return 422 if form.is_bound else 200


_LIMITS = {
    "rpm": "requests per minute",
    "tpm": "tokens per minute",
    "rpd": "requests per day",
    "tpd": "tokens per day",
}


def provider_row(provider: Provider) -> dict[str, Any]:
    """One provider with its models and its state."""
    return {
        "provider": provider,
        "offline": provider.kind == Provider.Kind.OFFLINE,
        "models": [model_row(model) for model in provider.models.all()],
        "key": key_state(provider),
        "limits": limit_words(provider),
        "headers": ", ".join(provider.headers),
    }


def model_row(model: ModelSpec) -> dict[str, Any]:
    """One model with its prices, its parameters, and what was learnt."""
    prices = (("", model.price_in), ("cached ", model.price_cached_in))
    return {
        "model": model,
        "price_in": _price_words(*prices),
        "price_out": _price_words(("", model.price_out), ("reasoning ", model.price_reasoning)),
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
    for name, unit in _LIMITS.items():
        if configured := getattr(provider, name):
            words.append(f"{configured:,} {unit}")
        elif name in learnt:
            day = str(learnt["at"])[:10]
            words.append(f"{learnt[name]:,} {unit} (reported by the endpoint {day})")
    return words


def key_state(provider: Provider) -> dict[str, str]:
    """Whether the key's variable is set where this server runs; never its value."""
    name = provider.api_key_env
    if provider.kind == Provider.Kind.OFFLINE or not name:
        return {"name": "", "tone": "quiet", "text": "no key"}
    if os.environ.get(name, "").strip():
        return {"name": name, "tone": "ok", "text": "set"}
    return {"name": name, "tone": "bad", "text": "not set"}


def _price_words(main: tuple[str, Decimal | None], part: tuple[str, Decimal | None]) -> str:
    if main[1] is None:
        return ""
    known = [(kind, price) for kind, price in (main, part) if price is not None]
    return ", ".join(f"{kind}{float(price):g}" for kind, price in known)


def _takes_words(model: ModelSpec) -> str:
    if model.purpose == ModelSpec.Purpose.EMBEDDING:
        return "texts, for embeddings"
    temperature = "temperature" if model.takes_temperature else "no temperature"
    if model.takes_temperature and model.fixed_temperature is not None:
        temperature = f"fixed temperature {model.fixed_temperature:g}"
    words = [temperature, f"{model.max_tokens_param} {model.max_output_tokens}"]
    words.append(f"instructions: {model.get_system_role_display()}")
    if model.structured != ModelSpec.Structured.NONE:
        words.append(model.get_structured_display())
    if model.reasoning_effort and model.reasoning_effort != ModelSpec.Effort.OMIT:
        words.append(f"reasoning effort {model.reasoning_effort}")
    if model.context_tokens:
        words.append(f"context {model.context_tokens:,}")
    if model.extra_body:
        words.append(f"and {', '.join(model.extra_body)}")
    return ", ".join(words)
