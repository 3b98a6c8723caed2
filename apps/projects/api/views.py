"""REST of projects and their members."""

from typing import Any

from django.db.models import prefetch_related_objects
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.accounts.models import User
from apps.accounts.roles import Right
from apps.accounts.selectors import find_user
from apps.common.api.viewsets import ApiViewSet
from apps.common.validation import refuse_unknown
from apps.projects.api.serializers import (
    InvitationSerializer,
    MadeInvitationSerializer,
    MemberSerializer,
    NewInvitationSerializer,
    NewProjectSerializer,
    PlaceSerializer,
    ProjectChangeSerializer,
    ProjectSerializer,
)
from apps.projects.api.viewsets import ProjectViewSet
from apps.projects.invitations import (
    create_invitation,
    get_invitation,
    invitations_of,
    invite_by_mail,
    revoke_invitation,
)
from apps.projects.models import Invitation, Project
from apps.projects.selectors import project_prefetches
from apps.projects.services import (
    change_project,
    create_project,
    delete_project,
    remove_member,
    set_member,
)
from labelhub.core.errors import Forbidden, InvalidInput
from labelhub.core.schema import Schema, parse_schema


class ProjectsViewSet(ApiViewSet):
    """The projects in which the caller has a role."""

    serializer_class = ProjectSerializer

    @extend_schema(operation_id="projects_list")
    def list(self, request: SignedInApiRequest) -> Response:
        """List your projects.

        Projects in which you have a role, by name.
        """
        projects = Project.objects.visible_to(request.user)
        return self.list_page(projects.prefetch_related(*project_prefetches(request.user)))

    @extend_schema(operation_id="projects_create", request=NewProjectSerializer)
    def create(self, request: SignedInApiRequest) -> Response:
        """Create a project.

        Every signed-in user may create one, and becomes its manager.
        """
        if request.user.bound_to is not None:
            raise Forbidden("This API key is bound to one project.")
        refuse_unknown(request.data, NewProjectSerializer().fields, "A project")
        fields = self.read_body(NewProjectSerializer)
        schema = _read_schema(fields.pop("schema", {}), fields)
        fields.setdefault("name", fields["slug"])
        project = create_project(actor=request.user, schema=schema, **fields)
        return Response(_to_json(self, project, request.user), status=status.HTTP_201_CREATED)


class OneProjectViewSet(ProjectViewSet):
    """One project."""

    lookup_url_kwarg = "slug"
    lookup_value_converter = "slug"
    serializer_class = ProjectSerializer

    @extend_schema(operation_id="projects_retrieve")
    def retrieve(self, request: SignedInApiRequest, slug: str) -> Response:
        """Show a project.

        With its newest label schema and guideline.
        """
        return Response(_to_json(self, self.project, request.user))

    @extend_schema(operation_id="projects_partial_update", request=ProjectChangeSerializer)
    def partial_update(self, request: SignedInApiRequest, slug: str) -> Response:
        """Change a project.

        A changed schema or guideline becomes a new version.
        """
        # An unchanged plan is accepted, so that a response can be sent back as it is.
        sent: Any = request.data
        for field in ("overlap", "review_scope"):
            known = getattr(self.project, field)
            if isinstance(sent, dict) and sent.get(field, known) != known:
                raise InvalidInput(f"{field}: change it through projects/{slug}/plan/.")
        refuse_unknown(sent, ProjectSerializer().fields, "A project")
        fields = self.read_body(ProjectChangeSerializer)
        if "schema" in fields:
            fields["schema"] = parse_schema(fields["schema"])
        change_project(project=self.project, actor=request.user, **fields)
        return Response(_to_json(self, self.project, request.user))

    @extend_schema(operation_id="projects_destroy")
    def destroy(self, request: SignedInApiRequest, slug: str) -> Response:
        """Delete a project.

        With its items, labels, gold and runs, for good.
        """
        delete_project(project=self.project, actor=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class MemberViewSet(ProjectViewSet):
    """The team of a project; for its managers."""

    read_right = Right.MANAGE
    serializer_class = MemberSerializer

    @extend_schema(operation_id="projects_members_list")
    def list(self, request: SignedInApiRequest, slug: str) -> Response:
        """List the members.

        By role.
        """
        return self.list_page(self.project.memberships.select_related("user"))

    @extend_schema(
        operation_id="projects_members_create",
        request=PlaceSerializer,
        responses={200: MemberSerializer, 201: MemberSerializer},
    )
    def create(self, request: SignedInApiRequest, slug: str) -> Response:
        """Add or change a member.

        201 for a new member, 200 for a change of an existing one.
        """
        sent = self.read_body(PlaceSerializer)
        user = _find_person(sent.pop("username"))
        known = self.project.memberships.filter(user=user).exists()
        member = set_member(project=self.project, user=user, actor=request.user, **sent)
        answered = status.HTTP_200_OK if known else status.HTTP_201_CREATED
        return Response(self.get_serializer(member).data, status=answered)

    @extend_schema(
        operation_id="projects_members_destroy",
        parameters=[
            OpenApiParameter("username", str, required=True, description="Or their e-mail address.")
        ],
    )
    def destroy(self, request: SignedInApiRequest, slug: str) -> Response:
        """Remove a member.

        Their labels stay.
        """
        user = _find_person(request.query_params.get("username", ""))
        remove_member(project=self.project, user=user, actor=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class InvitationViewSet(ProjectViewSet):
    """Invitations to a project; for its managers."""

    read_right = Right.MANAGE
    lookup_url_kwarg = "invitation_id"
    serializer_class = InvitationSerializer
    queryset = Invitation.objects.none()

    @extend_schema(operation_id="projects_invitations_list")
    def list(self, request: SignedInApiRequest, slug: str) -> Response:
        """List the invitations.

        Newest first; those that ended long ago are left out.
        """
        return self.list_page(invitations_of(self.project))

    @extend_schema(
        operation_id="projects_invitations_create",
        request=NewInvitationSerializer,
        responses={201: MadeInvitationSerializer},
    )
    def create(self, request: SignedInApiRequest, slug: str) -> Response:
        """Invite people.

        The link is in this response only. With ``email`` it is sent there instead. People without
        an account can join if you may create accounts.
        """
        sent = self.read_body(NewInvitationSerializer)
        project, actor, link = self.project, request.user, None
        if "email" in sent:
            if sent.pop("uses") != 1:
                raise InvalidInput.at("uses", "An invitation by e-mail is for one person.")
            made = invite_by_mail(request=request, project=project, actor=actor, **sent)
        else:
            made, path = create_invitation(project=project, actor=actor, **sent)
            link = request.build_absolute_uri(path)
        shown: Any = get_invitation(project, made.pk)
        shown.link = link
        return Response(MadeInvitationSerializer(shown).data, status=status.HTTP_201_CREATED)

    @extend_schema(operation_id="projects_invitations_destroy", responses={204: None})
    def destroy(self, request: SignedInApiRequest, slug: str, invitation_id: int) -> Response:
        """Revoke an invitation.

        Nobody else can join by it; it stays in the list.
        """
        revoke_invitation(invitation=get_invitation(self.project, invitation_id))
        return Response(status=status.HTTP_204_NO_CONTENT)


def _to_json(view: ApiViewSet, project: Project, user: User) -> dict[str, Any]:
    """The project read again, without stale prefetches."""
    fresh = Project.objects.get(pk=project.pk)
    prefetch_related_objects([fresh], *project_prefetches(user))
    return dict(view.get_serializer(fresh).data)


def _read_schema(definition: Any, fields: dict[str, Any]) -> Schema:
    """The schema; ``task`` and ``labels`` may also be beside it, and are removed from
    ``fields``."""
    beside = {name: fields.pop(name) for name in ("task", "labels") if name in fields}
    if not isinstance(definition, dict):
        return parse_schema(definition)
    for name, value in beside.items():
        if definition.get(name, value) != value:
            raise InvalidInput.at(name, "The schema has another value; send it only once.")
    return parse_schema(definition | beside)


def _find_person(name: str) -> User:
    user = find_user(name)
    if user is None:
        raise InvalidInput(f"username: there is no account '{name}'.")
    return user
