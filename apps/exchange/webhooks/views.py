"""Pages of webhooks, for managers."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.authors.pages import own_origin
from apps.common.addresses import parse_row_id
from apps.common.figures import count_words
from apps.common.forms import show_refusal
from apps.common.lists import requested_page
from apps.common.shown_once import keep_secret, take_secret
from apps.exchange.models import Delivery, Webhook
from apps.exchange.webhooks import services
from apps.exchange.webhooks.event_feed import EVENTS, waiting
from apps.exchange.webhooks.services import deliveries_of, webhook_rows
from apps.projects.pages import project_page
from apps.projects.selectors import get_project
from labelhub.core.errors import InvalidInput, LabelhubError

PAGE_SIZE = 20
SIGNING = "webhook"


class WebhookForm(forms.Form):
    url = forms.CharField(
        label=_("Address"),
        max_length=2000,
        widget=forms.URLInput(attrs={"placeholder": "https://…", "spellcheck": "false"}),
        help_text=_("Each event is posted to it as JSON, signed."),
    )
    description = forms.CharField(
        label=_("Description"),
        required=False,
        max_length=200,
        help_text=_("A note for you, such as the name of the receiver."),
    )
    events = forms.MultipleChoiceField(
        label=_("Events"),
        choices=lambda: [(name, f"{name}: {words}") for name, words in EVENTS.items()],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one event.")},
    )
    with_text = forms.BooleanField(
        label=_("Send the texts of items too"),
        required=False,
        help_text=_("Except texts by authors. Without it, messages have ids and links."),
    )


class ReplayForm(forms.Form):
    since = forms.DateTimeField(
        label=_("Since (UTC)"),
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        help_text=_("By the times of labels and decisions; imported ones keep their own."),
    )


@login_required
@require_safe
def webhook_list(request: SignedInRequest, slug: str) -> HttpResponse:
    project = get_project(request.user, slug, Right.MANAGE)
    context = project_page(request, project, "webhooks") | {"webhooks": webhook_rows(project)}
    return render(request, "exchange/webhook_list.html", context)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def webhook_create(request: SignedInRequest, slug: str) -> HttpResponse:
    """Create one; its own page then shows the secret, once."""
    project = get_project(request.user, slug, Right.MANAGE)
    form = WebhookForm(request.POST or None, initial={"events": list(EVENTS)})
    if request.method == "POST" and form.is_valid():
        try:
            webhook, secret = services.create_webhook(
                project=project,
                actor=request.user,
                origin=own_origin(request),
                **form.cleaned_data,
            )
        except LabelhubError as error:
            show_refusal(form, error)
        else:
            keep_secret(request, SIGNING, secret)
            return redirect("webhook_detail", slug, webhook.pk)
    context = project_page(request, project, "webhooks") | {"form": form}
    status = 422 if form.errors else 200
    return render(request, "exchange/webhook_create.html", context, status=status)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def webhook_detail(request: SignedInRequest, slug: str, webhook_id: int) -> HttpResponse:
    """One webhook: its deliveries and its settings."""
    webhook = _get_webhook(request, slug, webhook_id)
    if request.method != "POST":
        return _page(request, webhook, secret=take_secret(request, SIGNING))
    form = WebhookForm(request.POST)
    if form.is_valid():
        try:
            changes = form.cleaned_data | {"origin": own_origin(request)}
            services.update_webhook(webhook=webhook, **changes)
        except InvalidInput as error:
            show_refusal(form, error)
        else:
            return _done(request, webhook, gettext("The settings are saved."))
    webhook.refresh_from_db()
    return _page(request, webhook, form=form)


@login_required
@require_safe
def webhook_deliveries(request: SignedInRequest, slug: str, webhook_id: int) -> HttpResponse:
    """The deliveries, which are polled while some are unsent."""
    webhook = _get_webhook(request, slug, webhook_id)
    context = {"project": webhook.project} | _deliveries(request, webhook)
    return render(request, "exchange/webhook_detail.html#deliveries", context)


@login_required
@require_POST
def webhook_secret(request: SignedInRequest, slug: str, webhook_id: int) -> HttpResponse:
    """Replace the secret; the page of the webhook then shows the new one, once."""
    webhook = _get_webhook(request, slug, webhook_id)
    keep_secret(request, SIGNING, services.rotate_secret(webhook=webhook))
    return redirect("webhook_detail", slug, webhook.pk)


@login_required
@require_POST
def webhook_ping(request: SignedInRequest, slug: str, webhook_id: int) -> HttpResponse:
    webhook = _get_webhook(request, slug, webhook_id)
    services.ping(webhook=webhook)
    return _done(request, webhook, gettext("A test message is on its way."))


@login_required
@require_POST
def webhook_switch(request: SignedInRequest, slug: str, webhook_id: int) -> HttpResponse:
    webhook = _get_webhook(request, slug, webhook_id)
    if request.POST.get("to") == "off":
        services.switch_off(webhook=webhook)
        return _done(request, webhook, gettext("Switched off: nothing more is sent."))
    services.switch_on(webhook=webhook)
    return _done(request, webhook, gettext("Switched on: events from now on are sent."))


@login_required
@require_POST
def webhook_replay(request: SignedInRequest, slug: str, webhook_id: int) -> HttpResponse:
    """Send chosen deliveries again, or everything since a time."""
    webhook = _get_webhook(request, slug, webhook_id)
    chosen = [pk for pk in map(parse_row_id, request.POST.getlist("delivery")) if pk is not None][
        :1000
    ]
    form = ReplayForm(request.POST)
    try:
        if chosen:
            count = services.send_again(webhook=webhook, ids=chosen)
            words = ngettext(
                "%(count)s delivery will be sent again.",
                "%(count)s deliveries will be sent again.",
                count,
            )
            return _done(request, webhook, words % {"count": count_words(count)})
        if form.is_valid():
            since = form.cleaned_data["since"]
            services.replay_since(webhook=webhook, since=since)
            words = gettext("Everything since %(time)s is sent again.")
            return _done(request, webhook, words % {"time": date_format(since, "DATETIME_FORMAT")})
        messages.error(request, gettext("Choose deliveries, or a time such as 2026-11-22 09:30."))
    except LabelhubError as error:
        messages.error(request, error.message)
    return redirect("webhook_detail", slug, webhook.pk)


@login_required
@require_POST
def webhook_delete(request: SignedInRequest, slug: str, webhook_id: int) -> HttpResponse:
    webhook = _get_webhook(request, slug, webhook_id)
    services.delete_webhook(webhook=webhook)
    messages.success(request, gettext("The webhook was deleted."))
    return redirect("webhook_list", slug)


def _get_webhook(request: SignedInRequest, slug: str, webhook_id: int) -> Webhook:
    return services.webhook_of(get_project(request.user, slug, Right.MANAGE), webhook_id)


def _done(request: SignedInRequest, webhook: Webhook, words: str) -> HttpResponse:
    messages.success(request, words)
    return redirect("webhook_detail", webhook.project.slug, webhook.pk)


def _page(
    request: SignedInRequest,
    webhook: Webhook,
    *,
    form: WebhookForm | None = None,
    secret: str = "",
) -> HttpResponse:
    names = ("url", "description", "events", "with_text")
    given = {name: getattr(webhook, name) for name in names}
    since = webhook.stopped_at or webhook.began_at
    context = project_page(request, webhook.project, "webhooks") | _deliveries(request, webhook)
    context |= {
        "form": form or WebhookForm(initial=given),
        "replay_form": ReplayForm(initial={"since": since}),
        "secret": secret,
        "waiting": waiting(webhook).count(),
    }
    status = 422 if form and form.errors else 200
    return render(request, "exchange/webhook_detail.html", context, status=status)


def _deliveries(request: SignedInRequest, webhook: Webhook) -> dict[str, Any]:
    status = request.GET.get("status", "")
    status = status if status in Delivery.Status.values else ""
    page = requested_page(request.GET, deliveries_of(webhook, status=status), PAGE_SIZE)
    return {
        "webhook": webhook,
        "page": page,
        "status": status,
        "statuses": Delivery.Status.choices,
        "can_repeat": webhook.active
        and any(delivery.finished_at and delivery.event != "ping" for delivery in page),
        "moving": any(delivery.status in Delivery.UNSENT for delivery in page) and webhook.active,
    }
