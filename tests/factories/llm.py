"""Providers and models."""

from decimal import Decimal

from factory.declarations import Sequence, SubFactory
from factory.django import DjangoModelFactory

from apps.llm.models import ModelSpec, PromptVersion, Provider


class ProviderFactory(DjangoModelFactory[Provider]):
    """An endpoint that needs no key; nobody listens there unless ``base_url`` is given."""

    name = Sequence(lambda n: f"provider{n}")
    base_url = "http://127.0.0.1:9/v1"

    class Meta:
        model = Provider


class ModelSpecFactory(DjangoModelFactory[ModelSpec]):
    """A model with known prices."""

    provider = SubFactory(ProviderFactory)
    name = Sequence(lambda n: f"model-{n}")
    price_in = Decimal("0.15")
    price_out = Decimal("0.60")
    thinking_tokens = 0

    class Meta:
        model = ModelSpec


class PromptVersionFactory(DjangoModelFactory[PromptVersion]):
    """A prompt as it was when first used."""

    hash = Sequence(lambda n: f"{n:064x}")
    name = "single/annotator"
    body = "a prompt"

    class Meta:
        model = PromptVersion
