"""Providers and models, for operators: superusers, and nobody else."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.llm import selectors, services
from apps.llm.forms import ModelForm, ProviderForm
from apps.llm.models import ModelSpec, Provider
from apps.llm.rows import key_state, provider_row
from labelhub.core.errors import Forbidden, NotFound

View = Callable[..., HttpResponse]


def operator_required(view: View) -> View:
    """Superusers only: whoever sets an address decides where the server connects to."""

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
    """Look whether the provider answers, and say so."""
    # The probe loads the client library, which most server processes never need.
    from apps.llm.probe import check_provider  # noqa: PLC0415 - see above

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
    """Ask the endpoint for everything again that it once refused."""
    model = services.forget_learnt(_model(provider_id, model_id))
    messages.success(request, f"What was learnt about {model.name} is forgotten.")
    return redirect("provider_list")


def _provider_page(request: HttpRequest, provider: Provider) -> HttpResponse:
    form = ProviderForm(request.POST or None, instance=provider)
    if request.method == "POST" and form.is_valid():
        saved = services.save_provider(form.instance)
        messages.success(request, f"Provider {saved.name} is kept.")
        return redirect("provider_list")
    context = {"form": form, "provider": provider, "key": key_state(provider)}
    return render(request, "llm/provider_form.html", context, status=_status(form))


def _model_page(request: HttpRequest, model: ModelSpec) -> HttpResponse:
    form = ModelForm(request.POST or None, instance=model)
    if request.method == "POST" and form.is_valid():
        saved = services.save_model(form.instance)
        messages.success(request, f"Model {saved.name} is kept.")
        return redirect("provider_list")
    context = {"form": form, "model": model, "provider": model.provider}
    return render(request, "llm/model_form.html", context, status=_status(form))


def _editable(provider_id: int) -> Provider:
    provider = selectors.get_provider(provider_id)
    if provider.kind == Provider.Kind.OFFLINE:
        raise NotFound("The offline model is built in and has nothing to set.")
    return provider


def _model(provider_id: int, model_id: int) -> ModelSpec:
    model = _editable(provider_id).models.filter(pk=model_id).first()
    if model is None:
        raise NotFound("There is no such model.")
    return model


def _status(form: ProviderForm | ModelForm) -> int:
    return 422 if form.is_bound else 200
