"""The members of a project, and the invitations by which others join."""

from typing import Any

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.http import SignedInRequest
from apps.accounts.models import User
from apps.accounts.providers import choices
from apps.accounts.roles import ReviewerKind, Right, Role
from apps.accounts.selectors import find_user
from apps.common.forms import show_refusal
from apps.common.shown_once import keep_secret, take_secret
from apps.projects.forms import GroupRoleForm, InviteForm, JoinForm, PlaceForm
from apps.projects.group_roles import remove_group_role, roles_of_groups, set_group_role
from apps.projects.invitations import (
    REASONS,
    Unusable,
    create_invitation,
    find_invitation,
    get_invitation,
    invitations_of,
    invite_by_mail,
    join,
    join_as_new,
    limit_rate,
    revoke_invitation,
)
from apps.projects.models import Invitation, Membership, Project
from apps.projects.pages import project_page
from apps.projects.selectors import get_member, get_project, members, role_in
from apps.projects.services import remove_member, set_member
from labelhub.core.errors import InvalidInput, LabelhubError, NotFound

LINK = "invitation_link"


@login_required
@never_cache
@require_safe
def project_people(request: SignedInRequest, slug: str) -> HttpResponse:
    """Members and invitations; once also the link of a new invitation."""
    project = get_project(request.user, slug, Right.MANAGE)
    return _page(request, project, link=take_secret(request, LINK))


@login_required
@require_POST
def member_invite(request: SignedInRequest, slug: str) -> HttpResponse:
    """Add somebody by user name, send an e-mail, or make a link."""
    project = get_project(request.user, slug, Right.MANAGE)
    form = InviteForm(request.POST, prefix="invite")
    if form.is_valid():
        try:
            _invite(request, project, dict(form.cleaned_data))
        except LabelhubError as error:
            show_refusal(form, error)
        else:
            return redirect("project_people", slug)
    return _page(request, project, form=form)


@login_required
@require_POST
def invitation_revoke(request: SignedInRequest, slug: str, invitation_id: int) -> HttpResponse:
    """Let nobody else join by it."""
    project = get_project(request.user, slug, Right.MANAGE)
    revoke_invitation(invitation=get_invitation(project, invitation_id))
    messages.success(request, gettext("The invitation no longer works."))
    return redirect("project_people", slug)


@login_required
@require_POST
def member_change(request: SignedInRequest, slug: str, user_id: int) -> HttpResponse:
    """Change a member's role or kind; for htmx the answer is their row and a toast with *Undo*."""
    project = get_project(request.user, slug, Right.MANAGE)
    member = get_member(project, user_id)
    in_place = bool(request.headers.get("HX-Request"))
    before = {"role": member.role, "kind": member.kind}
    form = PlaceForm(request.POST)
    if not form.is_valid():
        raise InvalidInput("Choose a role and a kind from the page.")
    try:
        changed = set_member(
            project=project, user=member.user, actor=request.user, **form.cleaned_data
        )
    except InvalidInput as error:
        if not in_place:
            raise
        return _row(request, project, get_member(project, user_id), error=error.message)
    if in_place and request.user != member.user:
        return _row(request, project, changed, before=before)
    words = gettext("%(name)s is now %(role)s.")
    shown = {"name": member.user.display_name, "role": changed.get_role_display()}
    messages.success(request, words % shown)
    return _next_page(request.user, project)


@login_required
@require_POST
def member_remove(request: SignedInRequest, slug: str, user_id: int) -> HttpResponse:
    project = get_project(request.user, slug, Right.MANAGE)
    user = get_member(project, user_id).user
    remove_member(project=project, user=user, actor=request.user)
    words = gettext("%(name)s is no longer a member.")
    messages.success(request, words % {"name": user.display_name})
    return _next_page(request.user, project)


@login_required
@require_POST
def group_role_set(request: SignedInRequest, slug: str) -> HttpResponse:
    """Give everybody in a group of the company's provider a role."""
    project = get_project(request.user, slug, Right.MANAGE)
    form = GroupRoleForm(request.POST, prefix="group")
    if form.is_valid():
        rule = set_group_role(project=project, actor=request.user, **form.cleaned_data)
        words = gettext("Everybody in “%(group)s” is now %(role)s.")
        messages.success(request, words % {"group": rule.group, "role": rule.get_role_display()})
        return _next_page(request.user, project)
    return _page(request, project, group_form=form)


@login_required
@require_POST
def group_role_remove(request: SignedInRequest, slug: str, rule_id: int) -> HttpResponse:
    """Let a group give no role any more."""
    project = get_project(request.user, slug, Right.MANAGE)
    rule = remove_group_role(project=project, rule_id=rule_id, actor=request.user)
    words = gettext("“%(group)s” gives no role here any more.")
    messages.success(request, words % {"group": rule.group})
    return _next_page(request.user, project)


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def join_project(request: HttpRequest, invitation: str) -> HttpResponse:
    """What a person who was invited sees: join with the account they have, or with a new one."""
    limit_rate(request, "join")
    try:
        found = find_invitation(invitation)
    except NotFound as error:
        return _join_page(request, reason=error.message, status=404)
    if found.state is not Invitation.State.OPEN:
        return _join_page(request, reason=REASONS[found.state], status=410)
    form = JoinForm(request.POST if request.method == "POST" else None)
    try:
        if request.method == "POST" and request.user.is_authenticated:
            return _joined(request, join(invitation=found, user=request.user))
        if form.is_valid():
            user = join_as_new(invitation=found, **form.cleaned_data)
            get_adapter().login(request, user)
            return _joined(request, get_member(found.project, user.pk))
    except Unusable as error:
        return _join_page(request, reason=error.message, status=410)
    except InvalidInput as error:
        show_refusal(form, error)
    return _join_page(request, found=found, form=form, status=422 if form.errors else 200)


def _invite(request: SignedInRequest, project: Project, place: dict[str, Any]) -> None:
    """Do what the form asks for, and say what was done."""
    to, uses = place.pop("to").strip(), place.pop("uses")
    actor = request.user
    if "@" in to:
        invite_by_mail(request=request, project=project, actor=actor, email=to, **place)
        words = gettext("An invitation is on its way to %(address)s.")
        messages.success(request, words % {"address": to})
    elif to:
        place.pop("days")
        user = find_user(to)
        if user is None:
            raise InvalidInput.at("to", "There is no account with that user name.")
        if project.memberships.filter(user=user).exists():
            raise InvalidInput.at(
                "to", "%(display_name)s is already a member.", display_name=user.display_name
            )
        set_member(project=project, user=user, actor=actor, **place)
        words = gettext("%(name)s is now a member.")
        messages.success(request, words % {"name": user.display_name})
    else:
        made = create_invitation(project=project, actor=actor, uses=uses, **place)
        keep_secret(request, LINK, request.build_absolute_uri(made.path))


def _joined(request: HttpRequest, member: Membership) -> HttpResponse:
    words = gettext("You are a member of %(project)s.")
    messages.success(request, words % {"project": member.project.name})
    page = "review" if member.role == Role.REVIEWER else "project_overview"
    return redirect(page, member.project.slug)


def _join_page(
    request: HttpRequest,
    *,
    status: int,
    found: Invitation | None = None,
    form: JoinForm | None = None,
    reason: str = "",
) -> HttpResponse:
    context = {
        "invitation": found,
        "form": form,
        "reason": gettext(reason),
        # Who has an account with that address signs in; only its owner got the link.
        "new_account": found is not None
        and not settings.LABELHUB_SSO_ONLY
        and found.created_by.makes_accounts
        and not (found.email and User.objects.filter(email__iexact=found.email).exists()),
    }
    return render(request, "projects/join.html", context, status=status)


def _page(
    request: SignedInRequest,
    project: Project,
    form: InviteForm | None = None,
    link: str = "",
    group_form: GroupRoleForm | None = None,
) -> HttpResponse:
    group_roles = roles_of_groups(project)
    context: dict[str, Any] = {
        **project_page(request, project, "people"),
        "members": members(project),
        "invitations": invitations_of(project),
        "roles": Role.choices,
        "kinds": ReviewerKind.choices,
        "form": form or InviteForm(prefix="invite"),
        "link": link,
        "group_roles": group_roles,
        "group_form": group_form or GroupRoleForm(prefix="group"),
        "has_groups": bool(group_roles or choices() or settings.LABELHUB_SCIM_TOKEN),
    }
    status = 422 if form or group_form else 200
    return render(request, "projects/people.html", context, status=status)


def _row(
    request: SignedInRequest,
    project: Project,
    member: Membership,
    *,
    before: dict[str, str] | None = None,
    error: str = "",
) -> HttpResponse:
    """The member's row as it is now, and a toast."""
    context = {
        "project": project,
        "member": member,
        "roles": Role.choices,
        "kinds": ReviewerKind.choices,
        "before": before,
        "error": error,
    }
    return render(request, "projects/people.html#changed", context)


def _next_page(user: User, project: Project) -> HttpResponse:
    """Back to the members, or to what a manager who gave up that role may still see."""
    role = role_in(user, project)
    if role is None:
        return redirect("home")
    return redirect("project_people" if role is Role.MANAGER else "project_overview", project.slug)
