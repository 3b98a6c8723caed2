"""REST for managers: sites, their keys, features and consent texts."""

from decimal import Decimal
from typing import Any

from django.urls import reverse
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.authors.api.access import SiteViewSet
from apps.authors.models import ConsentText, Feature, Site, SiteKey
from apps.authors.selectors.sites import clear_known_sites, current_consent, sites_of
from apps.authors.services.features import MOST_BYTES, add_features, import_features, read_features
from apps.authors.services.sites import (
    PLAIN,
    add_key,
    create_site,
    delete_site,
    revoke_key,
    set_consent_text,
    set_features,
    update_site,
)
from apps.authors.snippets import snippet
from apps.common.api.parsers import TABLE, PlainJSONParser, TableParser
from apps.common.figures import nanousd
from apps.common.validation import refuse_unknown
from apps.llm.models import ModelSpec
from apps.llm.selectors import UnknownModelName
from apps.llm.services import known_model
from apps.projects.api.viewsets import ProjectViewSet
from apps.projects.models import Project


class FeatureTableParser(TableParser):
    """A table of features."""

    most = MOST_BYTES
    what = "A file of features"


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
MODEL_HELP = "Name, or provider/name; null for the text matcher."


class ConsentSerializer(serializers.ModelSerializer[ConsentText]):
    """One version of the consent text."""

    texts = serializers.DictField(child=serializers.CharField(), help_text="Language to text.")

    class Meta:
        model = ConsentText
        fields = ["version", "texts", "recommends", "created_at"]
        read_only_fields = ["version", "recommends", "created_at"]


class KeySerializer(serializers.ModelSerializer[SiteKey]):
    """A key without its secret, which only the response to its creation contains."""

    class Meta:
        model = SiteKey
        fields = ["kid", "purpose", "created_at", "revoked_at"]
        read_only_fields = ["kid", "created_at", "revoked_at"]


class NewKeySerializer(KeySerializer):
    """A new key with its secret."""

    secret = serializers.CharField(help_text="Shown only once.")

    class Meta(KeySerializer.Meta):
        fields = [*KeySerializer.Meta.fields, "secret"]


class SiteSerializer(serializers.ModelSerializer[Site]):
    """One embedding of the widget, without secrets."""

    project = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    allowed_origins = serializers.ListField(child=serializers.CharField())
    languages = serializers.ListField(
        child=serializers.CharField(), help_text="The first is the default."
    )
    model = serializers.SerializerMethodField(help_text="Words the questions; null: text matcher.")
    chat_model = serializers.SerializerMethodField(
        help_text="Answers in chat mode; null: text matcher."
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
        return model_name(site.model)

    def get_chat_model(self, site: Site) -> str | None:
        return model_name(site.chat_model)

    def get_daily_budget_usd(self, site: Site) -> float | None:
        return None if site.daily_budget_nanousd is None else site.daily_budget_nanousd / 1e9

    @extend_schema_field(ConsentSerializer)
    def get_consent(self, site: Site) -> dict[str, Any]:
        return dict(ConsentSerializer(current_consent(site)).data)

    def get_snippet(self, site: Site) -> str:
        script: str = self.context["request"].build_absolute_uri(reverse("widget_script"))
        return snippet(site, script)


class SiteRowSerializer(SiteSerializer):
    """A site in a list."""

    class Meta(SiteSerializer.Meta):
        fields = ["public_key", "project", "created_at", *PLAIN, *DECLARED]
        read_only_fields = fields


class SiteChangeSerializer(serializers.ModelSerializer[Site]):
    """The changeable fields of a site."""

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
    """Features as sent; ``read_features`` checks them."""


class NewSiteSerializer(SiteChangeSerializer):
    """A new site."""

    features = FeaturesField()
    consent = serializers.DictField(
        child=serializers.CharField(),
        required=False,
        help_text="Language to consent text; by default the standard text.",
    )

    class Meta(SiteChangeSerializer.Meta):
        fields = [*SiteChangeSerializer.Meta.fields, "features", "consent"]


class FeatureSerializer(serializers.ModelSerializer[Feature]):
    """A feature that the site asks about."""

    definition = serializers.DictField()

    class Meta:
        model = Feature
        fields = ["key", "active", "position", "definition", "created_at"]


class FeaturesAddedSerializer(serializers.Serializer[Any]):
    """How many features were added and changed."""

    added = serializers.IntegerField(help_text="New features.")
    changed = serializers.IntegerField(help_text="Features that replaced one with the same key.")


def model_name(model: ModelSpec | None) -> str | None:
    """``provider/name``, as ``find_model`` reads it."""
    return f"{model.provider.name}/{model.name}" if model else None


_SHOPPING = OpenApiExample("The starter library", value={"set": "shopping"}, request_only=True)
_NEW = OpenApiExample(
    "A shop",
    value={
        "name": "Shop",
        "allowed_origins": ["https://shop.example.org"],
        "features": {"set": "shopping"},
    },
    request_only=True,
)


class SitesViewSet(ProjectViewSet):
    """The sites of a project."""

    serializer_class = SiteSerializer

    @extend_schema(operation_id="site_list", responses=SiteRowSerializer(many=True))
    def list(self, request: SignedInApiRequest, **_: str) -> Response:
        """List sites.

        The sites whose answers go into the project, by name.
        """
        related = ("project", "model__provider", "chat_model__provider")
        sites = sites_of(self.project).select_related(*related)
        return self.list_page(sites, SiteRowSerializer)

    @extend_schema(operation_id="site_create", request=NewSiteSerializer, examples=[_NEW])
    def create(self, request: SignedInApiRequest, **_: str) -> Response:
        """Create a site.

        The project's task must be ``per_item``: each answer is an item with its own options.
        """
        changes = _changes(NewSiteSerializer(data=request.data), self.project)
        features = read_features(changes.pop("features"))
        site = create_site(project=self.project, actor=request.user, features=features, **changes)
        return Response(self.get_serializer(site).data, status=status.HTTP_201_CREATED)


class OneSiteViewSet(SiteViewSet):
    """One site."""

    serializer_class = SiteSerializer

    def retrieve(self, request: SignedInApiRequest, **_: str) -> Response:
        """Show a site.

        With its present consent text and the names of its keys; secrets are not shown.
        """
        return Response(self.get_serializer(self.site).data)

    @extend_schema(request=SiteChangeSerializer)
    def partial_update(self, request: SignedInApiRequest, **_: str) -> Response:
        """Change a site.

        Changes all fields that are sent, or none. Read-only fields are ignored.
        """
        changes = _changes(SiteChangeSerializer(data=request.data, partial=True), self.site.project)
        update_site(site=self.site, **changes)
        clear_known_sites()
        return Response(self.get_serializer(self.site).data)

    def destroy(self, request: SignedInApiRequest, **_: str) -> Response:
        """Delete a site.

        Also deletes its authors, messages and answers for good; the labelled items stay.
        """
        delete_site(site=self.site)
        clear_known_sites()
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=ConsentSerializer, responses=ConsentSerializer)
    @action(detail=False, methods=["put"], url_path="consent", url_name="consent")
    def consent_set(self, request: SignedInApiRequest, **_: str) -> Response:
        """Set the consent text.

        A changed text makes a new version, and authors are asked for consent again.
        """
        texts = self.read_body(ConsentSerializer)["texts"]
        consent = set_consent_text(site=self.site, texts=texts, actor=request.user)
        clear_known_sites()
        return Response(ConsentSerializer(consent).data)


class KeyViewSet(SiteViewSet):
    """A site's secrets."""

    lookup_url_kwarg = "kid"
    lookup_value_converter = "slug"
    serializer_class = KeySerializer

    @extend_schema(responses={201: NewKeySerializer})
    def create(self, request: SignedInApiRequest, **_: str) -> Response:
        """Create a key.

        ``sign``: signs the ids of authors. ``server``: posts messages. The secret is shown once.
        """
        purpose = self.read_body(KeySerializer)["purpose"]
        key, plain = add_key(site=self.site, purpose=purpose, actor=request.user)
        shown = {**self.get_serializer(key).data, "secret": plain}
        kept_nowhere = {"Cache-Control": "no-store"}
        return Response(shown, status=status.HTTP_201_CREATED, headers=kept_nowhere)

    @extend_schema(operation_id="site_key_revoke")
    def destroy(self, request: SignedInApiRequest, kid: str, **_: str) -> Response:
        """Revoke a key.

        From now on, everything signed or sent with it is refused.
        """
        revoke_key(site=self.site, kid=kid)
        return Response(status=status.HTTP_204_NO_CONTENT)


class FeaturesViewSet(SiteViewSet):
    """The features of a site."""

    serializer_class = FeatureSerializer
    parser_classes = [PlainJSONParser, FeatureTableParser]
    queryset = Feature.objects.none()

    @extend_schema(operation_id="site_features")
    def list(self, request: SignedInApiRequest, **_: str) -> Response:
        """List the features.

        In the site's order, also retired ones.
        """
        return self.list_page(self.site.features.order_by("-active", "position", "pk"))

    @extend_schema(
        request={"application/json": FEATURES},
        responses=FeatureSerializer(many=True),
        examples=[_SHOPPING],
    )
    def update(self, request: SignedInApiRequest, **_: str) -> Response:
        """Set the features.

        A set of the starter library, or a list of definitions in the order to ask in. Features
        that are left out are retired; their answers stay.
        """
        set_features(site=self.site, features=read_features(request.data))
        return self.list(request)

    @extend_schema(
        operation_id="site_features_add",
        request={"application/json": FEATURES},
        responses={200: FeaturesAddedSerializer},
        examples=[_SHOPPING],
    )
    def create(self, request: SignedInApiRequest, **_: str) -> Response:
        """Add features.

        Features with an existing key replace the old ones, the others come last. Send the same as
        for ``PUT``, or a CSV table. If any row has an error nothing is changed, and ``errors``
        names each row and field.
        """
        sent: Any = request.data
        table = sent.get(TABLE) if isinstance(sent, dict) else None
        if isinstance(table, bytes):
            made = import_features(site=self.site, name="table.csv", data=table)
        else:
            made = add_features(site=self.site, features=read_features(sent))
        return Response({"added": made.added, "changed": made.changed})


def _changes(sent: serializers.Serializer[Any], project: Project) -> dict[str, Any]:
    """The checked fields, as arguments of the services."""
    refuse_unknown(sent.initial_data, {*SiteSerializer().fields, *sent.fields}, "A site")
    sent.is_valid(raise_exception=True)
    changes = dict(sent.validated_data)
    for field in ("model", "chat_model"):
        if changes.get(field) is not None:
            try:
                changes[field] = known_model(changes[field], project)
            except UnknownModelName as error:
                raise ValidationError({field: [error.message]}) from None
    if "daily_budget_usd" in changes:
        changes["daily_budget_nanousd"] = nanousd(changes.pop("daily_budget_usd"))
    return changes
