"""The members of a project and their roles."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.http import SignedInRequest
from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind, Right, Role
from apps.accounts.selectors import find_user
from apps.accounts.services import NewUser, create_user
from apps.common.forms import show_refusal
from apps.projects.forms import AddMemberForm, NewAccountForm, PlaceForm
from apps.projects.models import Project
from apps.projects.pages import project_page
from apps.projects.selectors import get_member, get_project, members, role_in
from apps.projects.services import remove_member, set_member
from labelhub.core.errors import Forbidden, InvalidInput, LabelhubError


@login_required
@require_safe
def project_people(request: SignedInRequest, slug: str) -> HttpResponse:
    """The members, and two forms to add one."""
    project = get_project(request.user, slug, Right.MANAGE)
    return _page(request, project)


@login_required
@require_POST
def member_add(request: SignedInRequest, slug: str) -> HttpResponse:
    """Add a member who has an account."""
    project = get_project(request.user, slug, Right.MANAGE)
    form = AddMemberForm(request.POST, prefix="add")
    if form.is_valid():
        place = dict(form.cleaned_data)
        user = find_user(place.pop("person"))
        if user is None:
            form.add_error("person", "There is no account with that user name or e-mail address.")
        elif project.memberships.filter(user=user).exists():
            form.add_error("person", f"{user.display_name} is already a member.")
        else:
            set_member(project=project, user=user, actor=request.user, **place)
            messages.success(request, f"{user.display_name} is now a member.")
            return redirect("project_people", slug)
    return _page(request, project, add_form=form)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def member_create(request: SignedInRequest, slug: str) -> HttpResponse:
    """Create an account and add it as a member. Only this response shows its password; reloading
    the address shows the members.

    Managers need a permission for it: anybody may become a manager by creating a project, and
    others will trust that an account belongs to the owner of its e-mail address.
    """
    project = get_project(request.user, slug, Right.MANAGE)
    if request.method != "POST":
        return redirect("project_people", slug)
    if not request.user.makes_accounts:
        raise Forbidden("You may not create accounts. Ask an operator to do it or to allow you.")
    form = NewAccountForm(request.POST, prefix="new")
    made = _create_member(request.user, project, form) if form.is_valid() else None
    return _page(request, project, new_form=None if made else form, made=made)


@login_required
@require_POST
def member_change(request: SignedInRequest, slug: str, user_id: int) -> HttpResponse:
    """Change a member's role or kind."""
    project = get_project(request.user, slug, Right.MANAGE)
    user = get_member(project, user_id).user
    form = PlaceForm(request.POST)
    if not form.is_valid():
        raise InvalidInput("Choose a role and a kind from the page.")
    set_member(project=project, user=user, actor=request.user, **form.cleaned_data)
    messages.success(request, f"{user.display_name} is now {form.cleaned_data['role']}.")
    return _next_page(request.user, project)


@login_required
@require_POST
def member_remove(request: SignedInRequest, slug: str, user_id: int) -> HttpResponse:
    """Remove a member; their labels stay."""
    project = get_project(request.user, slug, Right.MANAGE)
    user = get_member(project, user_id).user
    remove_member(project=project, user=user, actor=request.user)
    messages.success(request, f"{user.display_name} is no longer a member.")
    return _next_page(request.user, project)


def _create_member(actor: User, project: Project, form: NewAccountForm) -> NewUser | None:
    """The new member and their password; None with errors on the form."""
    data = form.cleaned_data
    try:
        with transaction.atomic():
            made = create_user(username=data["username"], email=data["email"])
            set_member(
                project=project, user=made.user, role=data["role"], kind=data["kind"], actor=actor
            )
    except LabelhubError as error:
        show_refusal(form, error)
        return None
    return made


def _page(
    request: SignedInRequest,
    project: Project,
    add_form: AddMemberForm | None = None,
    new_form: NewAccountForm | None = None,
    made: NewUser | None = None,
) -> HttpResponse:
    context: dict[str, Any] = {
        **project_page(request, project, "people"),
        "members": members(project),
        "roles": Role.choices,
        "kinds": ReviewerKind.choices,
        "add_form": add_form or AddMemberForm(prefix="add"),
        "new_form": new_form or NewAccountForm(prefix="new"),
        "made": made,
    }
    status = 422 if add_form or new_form else 200
    return render(request, "projects/people.html", context, status=status)


def _next_page(user: User, project: Project) -> HttpResponse:
    """Back to the members, or to what a manager who gave up that role may still see."""
    role = role_in(user, project)
    if role is None:
        return redirect("home")
    return redirect("project_people" if role is Role.MANAGER else "project_overview", project.slug)
