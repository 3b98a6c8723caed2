"""What people say to each other about items: beside an item, and as a list."""

from http import HTTPStatus

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.common.addresses import parse_row_id
from apps.common.lists import requested_page
from apps.labels.selectors import no_item
from apps.projects.models import Item, Project
from apps.projects.pages import project_page, project_view
from apps.projects.selectors import get_project
from apps.reviews.comments.selectors import SHOWN, comment_rows, complete_names, thread_on
from apps.reviews.comments.services import resolve_comment, see_mentions, write_comment
from labelhub.core.errors import InvalidInput

PAGE_SIZE = 30


@never_cache
@project_view(Right.VIEW)
def comment_list(request: SignedInRequest, project: Project) -> HttpResponse:
    """The project's comments: open ones, mine, those meant for me, those resolved."""
    shown = request.GET.get("shown", "open")
    shown = shown if shown in SHOWN else "open"
    rows = comment_rows(project, request.user, shown=shown)
    context = project_page(request, project, "comments") | {
        "page": requested_page(request.GET, rows, PAGE_SIZE),
        "shown": shown,
        "choices": SHOWN.items(),
    }
    return render(request, "reviews/comment_list.html", context)


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def item_comments(request: SignedInRequest, slug: str, item_id: int) -> HttpResponse:
    """The comments on one item, as a part of a page; POST adds one."""
    right = Right.REVIEW if request.method == "POST" else Right.VIEW
    project = get_project(request.user, slug, right)
    if request.method == "GET":
        return _thread(request, project, item_id)
    fault, text, status = "", request.POST.get("text", ""), HTTPStatus.OK
    try:
        written = write_comment(project=project, user=request.user, item_id=item_id, text=text)
    except InvalidInput as error:
        fault, status = str(error.message), HTTPStatus.UNPROCESSABLE_ENTITY
    else:
        text = ""
        if written.strangers:
            called = ", ".join(f"@{name[:60]}" for name in written.strangers[:5])
            fault = gettext("Sent. Nobody in this project is called %(names)s.") % {"names": called}
    if "application/json" in request.headers.get("Accept", ""):
        return JsonResponse({"message": fault or gettext("Sent.")}, status=status)
    if not request.headers.get("HX-Request"):
        if fault:
            messages.warning(request, fault)
        return redirect("item_detail", slug, item_id)
    return _thread(request, project, item_id, text=text, fault=fault)


@project_view(Right.REVIEW, "POST")
def comment_resolve(request: SignedInRequest, project: Project, comment_id: int) -> HttpResponse:
    """Mark a comment as settled, or with ``open`` as open again."""
    comment = resolve_comment(
        project=project,
        user=request.user,
        comment_id=comment_id,
        resolved="open" not in request.POST,
    )
    if request.headers.get("HX-Request"):
        return _thread(request, project, comment.item_id)
    return redirect("comment_list", project.slug)


@project_view(Right.VIEW, "POST")
def comments_seen(request: SignedInRequest, project: Project) -> HttpResponse:
    """Take what is meant for me as read: of one ``item``, or all of it."""
    item_id = parse_row_id(request.POST.get("item", ""))
    see_mentions(project=project, user=request.user, item_id=item_id)
    if request.headers.get("HX-Request"):
        return HttpResponse()
    return redirect("comment_list", project.slug)


@project_view(Right.REVIEW)
def comment_people(request: SignedInRequest, project: Project) -> JsonResponse:
    """Names of members that begin with ``q``, to complete what is typed behind ``@``."""
    start = request.GET.get("q", "")[:150].replace("\0", "")
    return JsonResponse({"names": complete_names(project, start)})


def _thread(
    request: SignedInRequest, project: Project, item_id: int, *, text: str = "", fault: str = ""
) -> HttpResponse:
    item = Item.objects.filter(project=project, pk=item_id).select_related("state__gold").first()
    if item is None:
        raise no_item(project, item_id)
    context = project_page(request, project, "comments") | {
        "item": item,
        "thread": thread_on(project, request.user, item_id),
        "comment_text": text,
        "comment_fault": fault,
    }
    return render(request, "reviews/comments.html", context)
