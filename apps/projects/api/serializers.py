"""Projects and members as JSON."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.accounts.roles import ReviewerKind, Role
from apps.projects.invitations import MOST_DAYS, MOST_USES
from apps.projects.models import Invitation, Membership, Project
from labelhub.core.schema import COLORS, TASKS


class LabelDefSerializer(serializers.Serializer[Any]):
    """One label of a schema; fields that are empty are left out."""

    name = serializers.CharField()
    description = serializers.CharField(required=False)
    include = serializers.CharField(required=False)
    exclude = serializers.CharField(required=False)
    examples_for = serializers.ListField(child=serializers.CharField(), required=False)
    examples_against = serializers.ListField(child=serializers.CharField(), required=False)
    point = serializers.FloatField(required=False, help_text="Its number on an ordinal scale.")
    color = serializers.ChoiceField(
        choices=COLORS, required=False, help_text="By default a colour by the label's place."
    )


class LabelSchemaSerializer(serializers.Serializer[Any]):
    """The question asked about each item."""

    task = serializers.ChoiceField(choices=list(TASKS))
    question = serializers.CharField(required=False, allow_blank=True)
    labels = LabelDefSerializer(many=True, required=False)


@extend_schema_field(LabelSchemaSerializer)
class SchemaField(serializers.JSONField):
    """A label schema as sent; ``parse_schema`` validates it."""


class ProjectSerializer(serializers.ModelSerializer[Project]):
    """A project with the prefetches of ``selectors.project_prefetches``."""

    task = serializers.SerializerMethodField()
    schema = serializers.SerializerMethodField()
    schema_version = serializers.SerializerMethodField()
    guideline = serializers.SerializerMethodField()
    role = serializers.SerializerMethodField(help_text="Your role in the project.")

    class Meta:
        model = Project
        fields = [
            "slug",
            "name",
            "description",
            "task",
            "schema",
            "schema_version",
            "guideline",
            "overlap",
            "review_scope",
            "created_at",
            "role",
        ]
        read_only_fields = fields

    @extend_schema_field(serializers.ChoiceField(choices=list(TASKS)))
    def get_task(self, project: Project) -> str:
        """The newest schema's task."""
        return str(project.schemas.all()[0].task)

    @extend_schema_field(LabelSchemaSerializer)
    def get_schema(self, project: Project) -> dict[str, Any]:
        """The newest schema."""
        return project.schemas.all()[0].parsed.to_json()

    def get_schema_version(self, project: Project) -> int:
        """The newest schema's version."""
        return project.schemas.all()[0].version

    def get_guideline(self, project: Project) -> str:
        """The newest guideline, or nothing."""
        newest = list(project.guidelines.all())
        return newest[0].text if newest else ""

    @extend_schema_field(serializers.ChoiceField(choices=Role.choices))
    def get_role(self, project: Project) -> str:
        """Operators are managers everywhere."""
        if self.context["request"].user.is_superuser:
            return str(Role.MANAGER)
        return project.memberships.all()[0].role


class NewProjectSerializer(serializers.Serializer[Any]):
    """A new project."""

    slug = serializers.SlugField(max_length=60)
    name = serializers.CharField(max_length=200, required=False, help_text="By default the slug.")
    description = serializers.CharField(required=False, allow_blank=True)
    task = serializers.ChoiceField(
        choices=list(TASKS),
        required=False,
        help_text="Here or in the schema.",
    )
    labels = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Names only; use `schema` for descriptions.",
    )
    schema = SchemaField(required=False)
    guideline = serializers.CharField(required=False, allow_blank=True)
    overlap = serializers.IntegerField(required=False, min_value=1, max_value=20)
    blind_share = serializers.FloatField(
        required=False,
        min_value=0,
        max_value=1,
        help_text="Share of items shown without any suggestion; 0.1 by default.",
    )


class ProjectChangeSerializer(serializers.Serializer[Any]):
    """A change of a project; overlap and review scope change through ``plan/``."""

    name = serializers.CharField(max_length=200, required=False)
    description = serializers.CharField(required=False, allow_blank=True)
    schema = SchemaField(required=False)
    guideline = serializers.CharField(required=False, allow_blank=True)


class MemberSerializer(serializers.ModelSerializer[Membership]):
    """One person in a project."""

    username = serializers.CharField(source="user.username")
    email = serializers.EmailField(source="user.email", allow_blank=True)
    name = serializers.CharField(source="user.display_name")

    class Meta:
        model = Membership
        fields = ["username", "email", "name", "role", "kind", "created_at"]
        read_only_fields = fields


class PlaceSerializer(serializers.Serializer[Any]):
    """A person with an account, and their role in the project."""

    username = serializers.CharField(help_text="Or their e-mail address.")
    role = serializers.ChoiceField(choices=Role.choices)
    kind = serializers.ChoiceField(choices=ReviewerKind.choices, default=ReviewerKind.CROWD)


class InvitationSerializer(serializers.ModelSerializer[Invitation]):
    """A link by which people join."""

    email = serializers.CharField(
        help_text="Where the link was sent, and nobody else saw it; empty if it was handed over."
    )
    state = serializers.ChoiceField(choices=Invitation.State.choices)
    created_by = serializers.CharField(source="created_by.username")

    class Meta:
        model = Invitation
        fields = [
            "id",
            "email",
            "role",
            "kind",
            "uses_allowed",
            "uses",
            "expires_at",
            "state",
            "created_by",
            "created_at",
        ]
        read_only_fields = fields


class MadeInvitationSerializer(InvitationSerializer):
    """A new invitation with its link."""

    link = serializers.CharField(
        allow_null=True, help_text="Shown only here; null if it was sent by e-mail."
    )

    class Meta(InvitationSerializer.Meta):
        fields = [*InvitationSerializer.Meta.fields, "link"]
        read_only_fields = fields


class NewInvitationSerializer(serializers.Serializer[Any]):
    """Whom to invite, as what."""

    role = serializers.ChoiceField(choices=Role.choices)
    kind = serializers.ChoiceField(choices=ReviewerKind.choices, default=ReviewerKind.CROWD)
    uses = serializers.IntegerField(
        default=1, min_value=1, max_value=MOST_USES, help_text="How many people may join by it."
    )
    days = serializers.IntegerField(default=7, min_value=1, max_value=MOST_DAYS)
    email = serializers.EmailField(
        required=False, help_text="The link is sent there, and shown to nobody else."
    )
