"""Providers and models as their page shows them; never a key, never a header's value."""

import os
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from apps.llm.capabilities import capability_words
from apps.llm.models import ModelSpec, Provider

_LIMITS = {
    "rpm": "requests per minute",
    "tpm": "tokens per minute",
    "rpd": "requests per day",
    "tpd": "tokens per day",
}


def provider_row(provider: Provider) -> dict[str, Any]:
    """One provider with all there is to see of it."""
    return {
        "provider": provider,
        "offline": provider.kind == Provider.Kind.OFFLINE,
        "models": [model_row(model) for model in provider.models.all()],
        "key": key_state(provider),
        "limits": limit_words(provider),
        "headers": ", ".join(provider.headers),
    }


def model_row(model: ModelSpec) -> dict[str, Any]:
    """One model with its prices, what it takes, and what of that was learnt."""
    prices = (("", model.price_in), ("cached ", model.price_cached_in))
    return {
        "model": model,
        "price_in": _price_words(*prices),
        "price_out": _price_words(("", model.price_out), ("reasoning ", model.price_reasoning)),
        "takes": _takes_words(model),
        "learnt": [_lesson(each) for each in model.learnt],
    }


def limit_words(provider: Provider) -> list[str]:
    """The limits of ``provider``: as configured, or as its answers said last."""
    told: Mapping[str, Any] = provider.learnt_limits
    words = []
    for name, what in _LIMITS.items():
        if configured := getattr(provider, name):
            words.append(f"{configured:,} {what}")
        elif name in told:
            words.append(f"{told[name]:,} {what} (told by the endpoint {str(told['at'])[:10]})")
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
    known = [(what, price) for what, price in (main, part) if price is not None]
    return ", ".join(f"{what}{float(price):g}" for what, price in known)


def _takes_words(model: ModelSpec) -> str:
    if model.purpose == ModelSpec.Purpose.EMBEDDING:
        return "texts, for embeddings"
    words = [_temperature_words(model), f"{model.max_tokens_param} {model.max_output_tokens}"]
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


def _temperature_words(model: ModelSpec) -> str:
    if not model.takes_temperature:
        return "no temperature"
    if model.fixed_temperature is None:
        return "temperature"
    return f"temperature always {model.fixed_temperature:g}"


def _lesson(learnt: Mapping[str, Any]) -> dict[str, str]:
    return {
        "what": capability_words(learnt["field"], learnt["value"]),
        "said": learnt["said"],
        "on": str(learnt["at"])[:10],
    }
