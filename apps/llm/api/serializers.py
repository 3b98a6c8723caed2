"""Models as REST shows them."""

from typing import Any

from rest_framework import serializers

from apps.llm.models import ModelSpec


class ModelSpecSerializer(serializers.ModelSerializer[ModelSpec]):
    """One model a run may name. ``offline`` marks the text matcher, which is not an LLM."""

    provider = serializers.CharField(source="provider.name", read_only=True)
    offline = serializers.BooleanField(read_only=True)
    prices_known = serializers.BooleanField(
        read_only=True, help_text="Whether a run with this model may have a budget."
    )

    class Meta:
        model = ModelSpec
        fields: Any = ["name", "provider", "offline", "prices_known"]
        read_only_fields = fields
