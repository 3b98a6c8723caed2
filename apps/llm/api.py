"""Models as REST shows them."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.generics import ListAPIView

from apps.llm import selectors
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


@extend_schema(
    summary="List models",
    description="Every model a run may name, for any signed-in user. Addresses and keys stay out.",
    tags=["models"],
)
class ModelList(ListAPIView[ModelSpec]):
    """``GET models/``."""

    queryset = selectors.list_models()
    serializer_class = ModelSpecSerializer


urlpatterns = [path("models/", ModelList.as_view(), name="api_model_list")]
