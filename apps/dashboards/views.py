"""Home, a project's overview and progress, and its items."""

from functools import lru_cache
from http import HTTPStatus
from itertools import zip_longest

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST, require_safe

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right, Role
from apps.common.addresses import parse_row_id
from apps.common.audit import Action, record
from apps.common.forms import show_refusal
from apps.common.holds import held_since
from apps.common.workers import worker_silence
from apps.dashboards.demo_site import CATALOGUE, SLUG, find_demo_site
from apps.dashboards.personal_data import erase_user, user_data
from apps.dashboards.search import MOST
from apps.dashboards.search import search as find
from apps.dashboards.selectors import (
    debates_of_item,
    is_hidden,
    next_step,
    only_queue,
    overview,
    project_rows,
)
from apps.dashboards.work import desk_of, past_answers, work_report
from apps.labels.selectors import item_with_ledger
from apps.projects.forms import TypedForm
from apps.projects.models import Project
from apps.projects.pages import project_page
from apps.projects.selectors import current_schema, get_project
from apps.reviews.adjudication.docket import may_adjudicate
from apps.reviews.comments.selectors import thread_on
from apps.reviews.search.views import item_search
from labelhub import COMMAND
from labelhub.core.echo.recommending.catalogue import Item, read_catalogue
from labelhub.core.errors import LabelhubError, NotFound


@login_required
@require_GET
def start(request: SignedInRequest) -> HttpResponse:
    """Where a sign-in leads: the queue of somebody who only reviews in one project, else home."""
    project = only_queue(request.user)
    return redirect("review", project.slug) if project else redirect("home")


# Without ``next``: a sign-in from here leads to ``start``.
@login_required(redirect_field_name=None)
@require_GET
def home(request: SignedInRequest) -> HttpResponse:
    """What is going on, where am I needed?"""
    rows = project_rows(request.user)
    managed = any(row.member is None or row.member.role == Role.MANAGER for row in rows)
    return render(request, "dashboards/home.html", {"rows": rows, "creates": managed or not rows})


@login_required
@require_GET
def search(request: SignedInRequest) -> HttpResponse:
    """Pages, actions, projects and items for ``q``; those of ``project`` first."""
    query = request.GET.get("q", "").strip()[:200]
    slug = request.GET.get("project", "")
    project = Project.objects.visible_to(request.user).filter(slug=slug).first() if slug else None
    context = {
        "query": query,
        "project": project,
        "found": find(request.user, query, project),
        "most": MOST,
    }
    part = "#results" if request.headers.get("HX-Request") else ""
    return render(request, f"dashboards/search.html{part}", context)


@login_required
@require_GET
def project_overview(request: SignedInRequest, slug: str) -> HttpResponse:
    """How far, how good, how much, what next?"""
    project = get_project(request.user, slug, Right.VIEW)
    context = project_page(request, project, "overview")
    view = overview(project, request.user)
    context |= {
        "view": view,
        "progress": view.progress,
        "next": next_step(view, str(context["role"]), expert=may_adjudicate(request.user, project)),
        "asks_authors": not view.progress.items and current_schema(project).task.item_options,
        "worker_silence": worker_silence(),
        "held": held_since(),
    }
    return render(request, "dashboards/overview.html", context)


@login_required
@require_GET
def item_list(request: SignedInRequest, slug: str) -> HttpResponse:
    project = get_project(request.user, slug, Right.VIEW)
    context = project_page(request, project, "items")
    context |= item_search(request, project, manages=context["role"] == Role.MANAGER)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if context["faults"] else HTTPStatus.OK
    return render(request, "dashboards/items.html", context, status=status)


@login_required
@require_GET
def item_detail(request: SignedInRequest, slug: str, item_id: int) -> HttpResponse:
    project = get_project(request.user, slug, Right.VIEW)
    item = item_with_ledger(project, item_id)
    if item is None:
        raise NotFound(
            "There is no item %(item_id)s in the project '%(slug)s'.",
            item_id=str(item_id),
            slug=project.slug,
        )
    hidden = is_hidden(item, request.user)
    context = project_page(request, project, "items") | {
        "item": item,
        # Kept by the import for a later export; of no use to people.
        "meta": sorted((key, value) for key, value in item.meta.items() if key != "label_studio"),
        "debates": [] if hidden else debates_of_item(item, request.user)[:20],
        "hidden": hidden,
        "thread": thread_on(project, request.user, item.pk),
    }
    return render(request, "dashboards/item.html", context)


@login_required
@require_GET
def project_work(request: SignedInRequest, slug: str) -> HttpResponse:
    """How far, how fast, who, and what waits why?"""
    project = get_project(request.user, slug, Right.MANAGE)
    context = project_page(request, project, "work") | {
        "report": work_report(project),
        "items": project.items.exists(),
    }
    return render(request, "dashboards/work.html", context)


@login_required
@require_GET
def my_work(request: SignedInRequest, slug: str) -> HttpResponse:
    """What have I done, what is for me, what has changed?"""
    project = get_project(request.user, slug, Right.REVIEW)
    before = parse_row_id(request.GET.get("before", ""))
    context = project_page(request, project, "mine") | {
        "desk": desk_of(project, request.user),
        "past": past_answers(project, request.user, before=before),
        "older_than": before,
    }
    return render(request, "dashboards/mine.html", context)


@lru_cache(maxsize=1)
def shop_products() -> tuple[Item, ...]:
    """What the shop sells, a little of each kind in turn: what Echo recommends from."""
    shelves: dict[str, list[Item]] = {}
    for item in read_catalogue(CATALOGUE.read_bytes()).items:
        shelves.setdefault(item.vertical, []).append(item)
    rows = zip_longest(*shelves.values())
    return tuple(item for row in rows for item in row if item is not None)


@require_safe
def demo_shop(request: HttpRequest) -> HttpResponse:
    """A shop whose own chatbot tells the widget what is written (companion mode)."""
    return _page(request, "demo/shop.html")


@require_safe
def demo_chat(request: HttpRequest) -> HttpResponse:
    """A chat that is all the widget's (chat mode)."""
    return _page(request, "demo/chat.html")


def _page(request: HttpRequest, template: str) -> HttpResponse:
    site = find_demo_site()
    if site is None:
        raise Http404(f"There is no demo here; '{COMMAND} demo' makes one.")
    context = {"site": site, "products": shop_products(), "project_slug": SLUG}
    return render(request, template, context)


@login_required
@require_safe
def my_data(request: SignedInRequest) -> HttpResponse:
    """Download what is stored about the user, or erase it."""
    return render(request, "dashboards/my_data.html", {"form": _typed_name(request)})


@login_required
@never_cache
@require_safe
def my_data_file(request: SignedInRequest) -> HttpResponse:
    """Everything that is stored about the user."""
    with transaction.atomic():
        record(Action.USER_EXPORTED, request.user)
    shown = {"ensure_ascii": False, "indent": 2}
    response = JsonResponse(user_data(request.user), json_dumps_params=shown)
    response["Content-Disposition"] = 'attachment; filename="my-data.json"'
    return response


@login_required
@require_POST
def my_data_erase(request: SignedInRequest) -> HttpResponse:
    """Erase the user's personal data, if they typed their user name, and sign them out."""
    form = _typed_name(request)
    if form.is_valid():
        try:
            erase_user(request.user)
        except LabelhubError as error:
            show_refusal(form, error)
        else:
            request.session.flush()
            messages.success(request, gettext("Your personal data is erased."))
            return redirect("account_login")
    return render(request, "dashboards/my_data.html", {"form": form}, status=422)


def _typed_name(request: SignedInRequest) -> TypedForm:
    label = gettext("Type your user name")
    data = request.POST if request.method == "POST" else None
    return TypedForm(data, words=request.user.username, label=label)
