"""A person's notifications: the list, and whether they come by e-mail too."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.http import SignedInRequest
from apps.common.lists import requested_page
from apps.projects.models import Notification
from apps.projects.notifications import mark_read, page_of
from labelhub.core.errors import NotFound

PAGE_SIZE = 20


@login_required
@require_safe
def notification_list(request: SignedInRequest) -> HttpResponse:
    rows = Notification.objects.shown_to(request.user)
    context = {
        "page": requested_page(request.GET, rows, PAGE_SIZE),
        "can_mail": settings.LABELHUB_SENDS_MAIL and request.user.email,
    }
    return render(request, "projects/notifications.html", context)


@login_required
@require_safe
def notification_open(request: SignedInRequest, notification_id: int) -> HttpResponse:
    """Mark it as read, and go to what it is about."""
    row = Notification.objects.shown_to(request.user).filter(pk=notification_id).first()
    if row is None:
        raise NotFound("You have no such notification; it may have been deleted.")
    mark_read(request.user, [row.pk])
    return redirect(page_of(row))


@login_required
@require_POST
def notifications_read(request: SignedInRequest) -> HttpResponse:
    mark_read(request.user)
    return redirect("notification_list")


@login_required
@require_POST
def notifications_mail(request: SignedInRequest) -> HttpResponse:
    request.user.notify_by_email = request.POST.get("to") == "on"
    request.user.save(update_fields=["notify_by_email"])
    if request.user.notify_by_email:
        messages.success(request, gettext("Notifications are sent by e-mail too."))
    else:
        messages.success(request, gettext("No more e-mails are sent."))
    return redirect("notification_list")
