"""Models as REST shows them."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.api.viewsets import ApiViewSet, Router
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


class ModelViewSet(ApiViewSet):
    """The models there are."""

    serializer_class = ModelSpecSerializer

    @extend_schema(operation_id="models_list")
    def list(self, request: Request) -> Response:
        """List models.

        Every model a run may name, for any signed-in user. Addresses and keys stay out.
        """
        return self.list_page(selectors.list_models())


router = Router()
router.register("models", ModelViewSet, "api_model_list")
urlpatterns = router.urls
