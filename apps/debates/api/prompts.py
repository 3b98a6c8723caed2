"""REST: the prompts for a project's runs."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.debates.models import PromptVariant
from apps.debates.services import prompts
from apps.projects.api.viewsets import ProjectViewSet


class PromptVariantSerializer(serializers.ModelSerializer[PromptVariant]):
    """A project's own version of a prompt."""

    hash = serializers.CharField(source="version.hash")

    class Meta:
        model = PromptVariant
        fields = ["id", "title", "hash", "created_at"]


class PromptSerializer(serializers.Serializer[Any]):
    """The present prompt; ``runs`` counts the project's runs that used any version of it."""

    name = serializers.CharField(source="prompt.name")
    protocol = serializers.CharField(source="prompt.protocol")
    role = serializers.CharField(source="prompt.role")
    hash = serializers.CharField(source="prompt.hash", help_text="Of the present text.")
    inputs = serializers.ListField(child=serializers.CharField(), source="prompt.inputs")
    output = serializers.CharField(source="prompt.output")
    # Not a field named "source": that is how a serializer's fields say what they read.
    paper = serializers.CharField(source="prompt.source")
    runs = serializers.IntegerField()
    variants = PromptVariantSerializer(many=True, help_text="Those that runs may use.")


@extend_schema(tags=["runs"])
class PromptViewSet(ProjectViewSet):
    """The prompts of a project."""

    serializer_class = PromptSerializer
    queryset = PromptVariant.objects.none()  # for the OpenAPI document

    @extend_schema(operation_id="prompt_list")
    def list(self, request: Request, **_: str) -> Response:
        """List prompts.

        By protocol, with their versions and the project's variants.
        """
        return self.list_page(
            [row for group in prompts.list_prompts(self.project) for row in group.prompts]
        )
