"""REST of projects and their members."""

from typing import Any

from django.db.models import prefetch_related_objects
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.generics import GenericAPIView
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.accounts.models import User
from apps.accounts.roles import Right
from apps.accounts.selectors import find_user
from apps.common.api.listing import paged
from apps.projects.api.serializers import (
    MemberSerializer,
    NewProjectSerializer,
    PlaceSerializer,
    ProjectChangeSerializer,
    ProjectSerializer,
)
from apps.projects.api.viewsets import ProjectScopedMixin
from apps.projects.models import Membership, Project
from apps.projects.selectors import details
from apps.projects.services import (
    change_project,
    create_project,
    delete_project,
    remove_member,
    set_member,
)
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import Schema, parse_schema


class ProjectsView(GenericAPIView[Project]):
    """The projects one is a member of."""

    serializer_class = ProjectSerializer
    queryset = Project.objects.none()

    @extend_schema(responses=ProjectSerializer(many=True), summary="List your projects")
    def get(self, request: SignedInApiRequest) -> Response:
        """Projects in which you have a role, by name."""
        projects = Project.objects.visible_to(request.user)
        return paged(self, projects.prefetch_related(*details(request.user)))

    @extend_schema(
        request=NewProjectSerializer,
        responses={201: ProjectSerializer},
        summary="Make a project",
    )
    def post(self, request: SignedInApiRequest) -> Response:
        """Anybody signed in may make one; they become its manager."""
        sent = NewProjectSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        fields = dict(sent.validated_data)
        schema = _sent_schema(fields.pop("schema", {}), fields)
        fields.setdefault("name", fields["slug"])
        project = create_project(actor=request.user, schema=schema, **fields)
        return Response(_described(self, project, request.user), status=status.HTTP_201_CREATED)


class ProjectView(ProjectScopedMixin, GenericAPIView[Project]):
    """One project."""

    serializer_class = ProjectSerializer

    @extend_schema(responses=ProjectSerializer, summary="Show a project")
    def get(self, request: SignedInApiRequest, slug: str) -> Response:
        """With its newest label schema and guideline."""
        return Response(_described(self, self.project, request.user))

    @extend_schema(
        request=ProjectChangeSerializer, responses=ProjectSerializer, summary="Change a project"
    )
    def patch(self, request: SignedInApiRequest, slug: str) -> Response:
        """A changed schema or guideline becomes a new version."""
        _refuse_plan(request.data, self.project)
        sent = ProjectChangeSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        fields = dict(sent.validated_data)
        if "schema" in fields:
            fields["schema"] = parse_schema(fields["schema"])
        change_project(project=self.project, actor=request.user, **fields)
        return Response(_described(self, self.project, request.user))

    @extend_schema(responses={204: None}, summary="Delete a project")
    def delete(self, request: SignedInApiRequest, slug: str) -> Response:
        """With its items, labels, gold and runs, for good."""
        delete_project(project=self.project, actor=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class MembersView(ProjectScopedMixin, GenericAPIView[Membership]):
    """The team of a project; for its managers."""

    read_right = Right.MANAGE
    serializer_class = MemberSerializer
    queryset = Membership.objects.none()

    @extend_schema(responses=MemberSerializer(many=True), summary="List the members")
    def get(self, request: SignedInApiRequest, slug: str) -> Response:
        """By role."""
        return paged(self, self.project.memberships.select_related("user"))

    @extend_schema(
        request=PlaceSerializer,
        responses={200: MemberSerializer, 201: MemberSerializer},
        summary="Add or change a member",
    )
    def post(self, request: SignedInApiRequest, slug: str) -> Response:
        """201 for a new member, 200 for another role or kind of one who is there."""
        sent = PlaceSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        user = _person(sent.validated_data.pop("username"))
        known = self.project.memberships.filter(user=user).exists()
        member = set_member(
            project=self.project, user=user, actor=request.user, **sent.validated_data
        )
        answered = status.HTTP_200_OK if known else status.HTTP_201_CREATED
        return Response(self.get_serializer(member).data, status=answered)

    @extend_schema(
        parameters=[
            OpenApiParameter("username", str, required=True, description="Or their e-mail address.")
        ],
        responses={204: None},
        summary="Remove a member",
    )
    def delete(self, request: SignedInApiRequest, slug: str) -> Response:
        """What they labelled stays."""
        user = _person(request.query_params.get("username", ""))
        remove_member(project=self.project, user=user, actor=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _described(view: GenericAPIView[Project], project: Project, user: User) -> dict[str, Any]:
    """The project as it stands now; earlier prefetches are forgotten."""
    fresh = Project.objects.get(pk=project.pk)
    prefetch_related_objects([fresh], *details(user))
    return dict(view.get_serializer(fresh).data)


def _sent_schema(definition: Any, fields: dict[str, Any]) -> Schema:
    """The schema, with task and labels taken out of ``fields`` where they stand beside it."""
    beside = {name: fields.pop(name) for name in ("task", "labels") if name in fields}
    if not isinstance(definition, dict):
        return parse_schema(definition)
    for name, value in beside.items():
        if definition.get(name, value) != value:
            raise InvalidInput.at(name, "The schema says another; say it once.")
    return parse_schema(definition | beside)


def _refuse_plan(sent: Any, project: Project) -> None:
    """Left alone when equal, so that what was read can be sent back."""
    for field in ("overlap", "review_scope"):
        if isinstance(sent, dict) and sent.get(field, getattr(project, field)) != getattr(
            project, field
        ):
            raise InvalidInput(f"{field}: changes through projects/{project.slug}/plan/.")


def _person(name: str) -> User:
    user = find_user(name)
    if user is None:
        raise InvalidInput(f"username: nobody here is called '{name}'.")
    return user
