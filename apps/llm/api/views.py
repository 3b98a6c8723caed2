"""The models there are, for whoever creates runs by REST."""

from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView

from apps.llm import selectors
from apps.llm.api.serializers import ModelSpecSerializer
from apps.llm.models import ModelSpec


@extend_schema(
    summary="List models",
    description="Every model a run may name, for any signed-in user. Addresses and keys stay out.",
    tags=["models"],
)
class ModelList(ListAPIView[ModelSpec]):
    """``GET models/``."""

    queryset = selectors.list_models()
    serializer_class = ModelSpecSerializer
