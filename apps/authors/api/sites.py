"""REST of sites for people: make them, change them, their keys, features and consent text."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import generics, serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.authors.api.access import SiteScopedMixin
from apps.authors.api.parsers import FeatureTableParser
from apps.authors.api.serializers import (
    FEATURES,
    ConsentSerializer,
    FeaturesAddedSerializer,
    FeatureSerializer,
    KeySerializer,
    NewKeySerializer,
    NewSiteSerializer,
    SiteChangeSerializer,
    SiteRowSerializer,
    SiteSerializer,
)
from apps.authors.models import Feature, Site
from apps.authors.selectors.sites import forget_known, sites_of
from apps.authors.services.features import add_features, import_features, read_features
from apps.authors.services.sites import (
    add_key,
    create_site,
    delete_site,
    revoke_key,
    set_consent_text,
    set_features,
    update_site,
)
from apps.common.api.listing import paged
from apps.common.api.parsers import TABLE, PlainJSONParser
from apps.common.figures import nanousd
from apps.llm.models import ModelSpec
from apps.llm.selectors import UnknownModelName
from apps.llm.services import known_model
from apps.projects.api.mixins import ProjectScopedMixin
from labelhub.core.errors import InvalidInput

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


class SitesView(ProjectScopedMixin, generics.GenericAPIView[Site]):
    """The sites of a project."""

    serializer_class = SiteRowSerializer
    queryset = Site.objects.none()

    @extend_schema(
        operation_id="site_list", responses=SiteRowSerializer(many=True), summary="List sites"
    )
    def get(self, request: SignedInApiRequest, slug: str) -> Response:
        """The sites whose answers go into the project, by name."""
        related = ("project", "model__provider", "chat_model__provider")
        return paged(self, sites_of(self.project).select_related(*related))

    @extend_schema(
        operation_id="site_create",
        request=NewSiteSerializer,
        responses={201: SiteSerializer},
        examples=[_NEW],
        summary="Make a site",
    )
    def post(self, request: SignedInApiRequest, slug: str) -> Response:
        """The project's task must be ``per_item``: each answer is an item with its own options."""
        changes = _changes(NewSiteSerializer(data=request.data))
        features = read_features(changes.pop("features"))
        site = create_site(project=self.project, actor=request.user, features=features, **changes)
        shown = SiteSerializer(site, context={"request": request}).data
        return Response(shown, status=status.HTTP_201_CREATED)


class SiteView(SiteScopedMixin):
    """One site."""

    @extend_schema(operation_id="site", responses=SiteSerializer, summary="Show a site")
    def get(self, request: SignedInApiRequest, public_key: str) -> Response:
        """With its present consent text and the names of its keys; secrets are not shown."""
        return Response(SiteSerializer(self.site, context={"request": request}).data)

    @extend_schema(
        operation_id="site_change",
        request=SiteChangeSerializer,
        responses=SiteSerializer,
        summary="Change a site",
    )
    def patch(self, request: SignedInApiRequest, public_key: str) -> Response:
        """All of what is sent, or nothing. What only can be read is passed over."""
        changes = _changes(SiteChangeSerializer(data=request.data, partial=True))
        update_site(site=self.site, **changes)
        forget_known()
        return Response(SiteSerializer(self.site, context={"request": request}).data)

    @extend_schema(operation_id="site_delete", responses={204: None}, summary="Delete a site")
    def delete(self, request: SignedInApiRequest, public_key: str) -> Response:
        """With its authors, messages and answers, for good; the labelled items stay."""
        delete_site(site=self.site)
        forget_known()
        return Response(status=status.HTTP_204_NO_CONTENT)


class KeysView(SiteScopedMixin):
    """A site's secrets."""

    @extend_schema(
        operation_id="site_key_create",
        request=KeySerializer,
        responses={201: NewKeySerializer},
        summary="Make a key",
    )
    def post(self, request: SignedInApiRequest, public_key: str) -> Response:
        """``sign``: signs who an author is. ``server``: posts messages. Told this once."""
        sent = KeySerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        purpose = sent.validated_data["purpose"]
        key, plain = add_key(site=self.site, purpose=purpose, actor=request.user)
        shown = {**KeySerializer(key).data, "secret": plain}
        kept_nowhere = {"Cache-Control": "no-store"}
        return Response(shown, status=status.HTTP_201_CREATED, headers=kept_nowhere)


class KeyView(SiteScopedMixin):
    """One secret."""

    @extend_schema(operation_id="site_key_revoke", responses={204: None}, summary="Revoke a key")
    def delete(self, request: SignedInApiRequest, public_key: str, kid: str) -> Response:
        """From now on, nothing that was signed or sent with it is taken."""
        revoke_key(site=self.site, kid=kid)
        return Response(status=status.HTTP_204_NO_CONTENT)


class FeaturesView(SiteScopedMixin, generics.GenericAPIView[Feature]):
    """What a site asks about."""

    serializer_class = FeatureSerializer
    parser_classes = [PlainJSONParser, FeatureTableParser]
    queryset = Feature.objects.none()

    @extend_schema(
        operation_id="site_features",
        responses=FeatureSerializer(many=True),
        summary="List the features",
    )
    def get(self, request: SignedInApiRequest, public_key: str) -> Response:
        """In the site's order, also those that are asked about no more."""
        return self._listed()

    @extend_schema(
        operation_id="site_features_set",
        request={"application/json": FEATURES},
        responses=FeatureSerializer(many=True),
        examples=[_SHOPPING],
        summary="Set the features",
    )
    def put(self, request: SignedInApiRequest, public_key: str) -> Response:
        """A set of the starter library, or a list of definitions, in the order to ask in. Those
        left out are asked about no more; what was answered to them stays."""
        set_features(site=self.site, features=read_features(request.data))
        return self._listed()

    @extend_schema(
        operation_id="site_features_add",
        request={"application/json": FEATURES},
        responses={200: FeaturesAddedSerializer},
        examples=[_SHOPPING],
        summary="Add features",
    )
    def post(self, request: SignedInApiRequest, public_key: str) -> Response:
        """Those with a key that the site asks about take its place, the others come last. The same
        as for ``PUT``, or a table as CSV; with a fault in any row nothing is changed, and
        ``errors`` names each row and field."""
        sent: Any = request.data
        table = sent.get(TABLE) if isinstance(sent, dict) else None
        if isinstance(table, bytes):
            made = import_features(site=self.site, name="table.csv", data=table)
        else:
            made = add_features(site=self.site, features=read_features(sent))
        return Response({"added": made.added, "changed": made.changed})

    def _listed(self) -> Response:
        features: QuerySet[Feature] = self.site.features.order_by("-active", "position", "pk")
        return paged(self, features)


class ConsentView(SiteScopedMixin):
    """What authors agree to."""

    @extend_schema(
        operation_id="site_consent_set",
        request=ConsentSerializer,
        responses=ConsentSerializer,
        summary="Set the consent text",
    )
    def put(self, request: SignedInApiRequest, public_key: str) -> Response:
        """A changed text is a new version, and authors are asked anew; an equal one is none."""
        sent = ConsentSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        texts = sent.validated_data["texts"]
        consent = set_consent_text(site=self.site, texts=texts, actor=request.user)
        forget_known()
        return Response(ConsentSerializer(consent).data)


def _changes(sent: serializers.Serializer[Any]) -> dict[str, Any]:
    """The checked fields, as services take them."""
    _refuse_unknown(sent.initial_data, known={*SiteSerializer().fields, *sent.fields})
    sent.is_valid(raise_exception=True)
    changes = dict(sent.validated_data)
    for field in ("model", "chat_model"):
        if changes.get(field) is not None:
            changes[field] = _model(field, changes[field])
    if "daily_budget_usd" in changes:
        changes["daily_budget_nanousd"] = nanousd(changes.pop("daily_budget_usd"))
    return changes


def _refuse_unknown(data: Any, known: set[str]) -> None:
    """A setting that is spelled wrong would else be thought to be set."""
    strange = sorted(set(data) - known) if isinstance(data, dict) else []
    if strange:
        raise InvalidInput.at(strange[0][:60], "A site has no such field.")


def _model(field: str, name: str) -> ModelSpec:
    try:
        return known_model(name)
    except UnknownModelName as error:
        raise ValidationError({field: [error.message]}) from None
