"""Sites, their keys, features and consent texts as JSON."""

from decimal import Decimal
from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.authors.models import ConsentText, Feature, Site, SiteKey
from apps.authors.selectors.sites import current_consent
from apps.authors.snippets import snippet
from apps.llm.models import ModelSpec

#: Plain columns that are read and changed alike; the others are declared below.
PLAIN = [
    "name", "enabled", "region", "identity", "consent_by", "privacy_url", "least_relevant",
    "most_questions", "sampling", "every_messages", "min_seconds", "per_conversation", "per_day",
    "reask_share", "chat_title", "chat_greeting", "chat_instructions", "reward_cents", "currency",
    "reward_daily_cents", "reward_total_cents", "reward_hold_days", "keep_text", "retention_days",
    "answers_decide", "country_header", "calls_per_day", "replies_anonymous", "replies_verified",
    "replies_network",
]  # fmt: skip
DECLARED = ["allowed_origins", "languages", "model", "chat_model", "daily_budget_usd"]
FEATURES = {
    "oneOf": [
        {
            "type": "object",
            "properties": {"set": {"type": "string", "example": "shopping"}},
            "required": ["set"],
        },
        {"type": "array", "items": {"type": "object", "additionalProperties": True}},
    ],
    "description": "A set of the starter library, or a list of definitions.",
}
MODEL_HELP = "Name, or provider/name; null for the offline model."


class ConsentSerializer(serializers.ModelSerializer[ConsentText]):
    """One version of what authors agree to."""

    texts = serializers.DictField(child=serializers.CharField(), help_text="Language to text.")

    class Meta:
        model = ConsentText
        fields = ["version", "texts", "recommends", "created_at"]
        read_only_fields = ["version", "recommends", "created_at"]


class KeySerializer(serializers.ModelSerializer[SiteKey]):
    """A key by its name; the secret itself is told once, when the key is made."""

    class Meta:
        model = SiteKey
        fields = ["kid", "purpose", "created_at", "revoked_at"]
        read_only_fields = ["kid", "created_at", "revoked_at"]


class NewKeySerializer(KeySerializer):
    """A key that was just made."""

    secret = serializers.CharField(help_text="Told this once.")

    class Meta(KeySerializer.Meta):
        fields = [*KeySerializer.Meta.fields, "secret"]


class SiteSerializer(serializers.ModelSerializer[Site]):
    """One embedding of the widget, without secrets."""

    project = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    allowed_origins = serializers.ListField(child=serializers.CharField())
    languages = serializers.ListField(
        child=serializers.CharField(), help_text="The first is the default."
    )
    model = serializers.SerializerMethodField(help_text="Words the questions; null: offline model.")
    chat_model = serializers.SerializerMethodField(
        help_text="Answers in chat mode; null: offline model."
    )
    daily_budget_usd = serializers.SerializerMethodField(help_text="Null: no limit.")
    consent = serializers.SerializerMethodField(help_text="The present version.")
    keys = KeySerializer(many=True, read_only=True)
    snippet = serializers.SerializerMethodField(help_text="What a page embeds.")

    class Meta:
        model = Site
        fields = [
            "public_key", "project", "created_at", *PLAIN, *DECLARED, "consent", "keys", "snippet",
        ]  # fmt: skip
        read_only_fields = fields

    def get_model(self, site: Site) -> str | None:
        """Who words the questions."""
        return model_name(site.model)

    def get_chat_model(self, site: Site) -> str | None:
        """Who answers in chat mode."""
        return model_name(site.chat_model)

    def get_daily_budget_usd(self, site: Site) -> float | None:
        """The most that the models may cost in a day."""
        return None if site.daily_budget_nanousd is None else site.daily_budget_nanousd / 1e9

    @extend_schema_field(ConsentSerializer)
    def get_consent(self, site: Site) -> dict[str, Any]:
        """What authors agree to at present."""
        return dict(ConsentSerializer(current_consent(site)).data)

    def get_snippet(self, site: Site) -> str:
        """The script tag with this server's address, and what collects calls until it is there."""
        script: str = self.context["request"].build_absolute_uri(reverse("widget_script"))
        return snippet(site, script)


class SiteRowSerializer(SiteSerializer):
    """A site in a list."""

    class Meta(SiteSerializer.Meta):
        fields = ["public_key", "project", "created_at", *PLAIN, *DECLARED]
        read_only_fields = fields


class SiteChangeSerializer(serializers.ModelSerializer[Site]):
    """What can be changed of a site."""

    allowed_origins = serializers.ListField(child=serializers.CharField(), required=False)
    languages = serializers.ListField(child=serializers.CharField(), required=False)
    model = serializers.CharField(required=False, allow_null=True, help_text=MODEL_HELP)
    chat_model = serializers.CharField(required=False, allow_null=True, help_text=MODEL_HELP)
    daily_budget_usd = serializers.DecimalField(
        max_digits=12, decimal_places=6, min_value=Decimal(0), required=False, allow_null=True
    )

    class Meta:
        model = Site
        fields = [*PLAIN, *DECLARED]


@extend_schema_field(FEATURES)
class FeaturesField(serializers.JSONField):
    """Features as sent; ``read_features`` checks them and words its refusals."""


class NewSiteSerializer(SiteChangeSerializer):
    """A site to make."""

    features = FeaturesField()
    consent = serializers.DictField(
        child=serializers.CharField(),
        required=False,
        help_text="Language to what authors agree to; by default our own words.",
    )

    class Meta(SiteChangeSerializer.Meta):
        fields = [*SiteChangeSerializer.Meta.fields, "features", "consent"]


class FeatureSerializer(serializers.ModelSerializer[Feature]):
    """One thing that the site wants to learn."""

    definition = serializers.DictField()

    class Meta:
        model = Feature
        fields = ["key", "active", "position", "definition", "created_at"]


class FeaturesAddedSerializer(serializers.Serializer[Any]):
    """What became of features that were sent."""

    added = serializers.IntegerField(help_text="New ones.")
    changed = serializers.IntegerField(help_text="Those that took the place of one of their key.")


def model_name(model: ModelSpec | None) -> str | None:
    """``provider/name``, as ``find_model`` reads it."""
    return f"{model.provider.name}/{model.name}" if model else None
