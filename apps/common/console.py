"""Pages of the operator's console: rows to look up, and what operators do to them."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.functional import Promise
from django.utils.translation import gettext
from unfold.admin import ModelAdmin

from labelhub.core.errors import Conflict, LabelhubError

Words = str | Promise
#: Does something to one row; True if it had an effect, or the words of it.
Act = Callable[[Any, HttpRequest, Any], bool | str]


class OperatorAdmin(ModelAdmin):
    """A page of the console. Nothing is added, changed or deleted here but by actions and forms
    that call services, which record it."""

    list_per_page = 50
    show_full_result_count = False  # a second count over tables that grow without end
    list_fullwidth = True
    change_form_outer_before_template = "admin/row_actions.html"
    #: What an empty list says.
    empty_words: Words = ""

    def has_add_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        """No."""
        return False

    def has_change_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        """No."""
        return False

    def has_delete_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        """No."""
        return False

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Whether they may use the actions."""
        return bool(request.user.is_superuser)

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """The page of a row, with its actions as buttons."""
        actions = [
            {"name": name, "words": words, "asks": getattr(run, "asks", False)}
            for name, (run, _, words) in self.get_actions(request).items()
        ]
        context = {"row_actions": actions if object_id else [], "row_id": object_id}
        return super().changeform_view(
            request, object_id, form_url, context | (extra_context or {})
        )


def operator_action(
    words: Words,
    *,
    question: Words = "",
    seen: Sequence[str] = (),
    single: bool = False,
    waits: bool = False,
) -> Callable[[Act], Any]:
    """An action of an :class:`OperatorAdmin` on each selected row, locked, in a transaction.

    Args:
        words: what the button says.
        question: asked first, where something ends that does not come back.
        seen: fields that must still be what they were when the question was asked, so that of two
            operators, or two presses, one has the effect.
        single: one row at a time; its page is shown afterwards.
        waits: for others, such as a model: without a transaction.
    """

    def decorate(act: Act) -> Any:
        @wraps(act)
        def run(page: OperatorAdmin, request: HttpRequest, rows: QuerySet[Any]) -> Any:
            chosen = list(rows[:2]) if single else list(rows)
            if single and len(chosen) > 1:
                messages.error(request, gettext("Choose one at a time."))
                return None
            if question and "sure" not in request.POST:
                return _ask(page, request, run.__name__, chosen, seen=seen)
            for row in chosen:
                _act_on(page, request, act, row, seen=seen if question else (), waits=waits)
            if chosen and (single or "from_row" in request.POST):
                return redirect(_row_url(page.model, chosen[0].pk))
            return None

        run.asks, run.words, run.question = bool(question), words, question  # type: ignore[attr-defined]
        return admin.action(description=words, permissions=["operate"])(run)  # type: ignore[arg-type]

    return decorate


def _ask(
    page: OperatorAdmin, request: HttpRequest, name: str, rows: list[Any], *, seen: Sequence[str]
) -> HttpResponse:
    action = getattr(page, name)
    context = {
        **page.admin_site.each_context(request),
        "title": action.words,
        "question": action.question,
        "action": name,
        "rows": [(row, _stamp(row, seen)) for row in rows],
        "checkbox": ACTION_CHECKBOX_NAME,
        "from_row": "from_row" in request.POST,
        "opts": page.opts,
        "back": _row_url(page.model, rows[0].pk) if "from_row" in request.POST and rows else "?",
    }
    return TemplateResponse(request, "admin/confirm_action.html", context)


def _act_on(
    page: OperatorAdmin,
    request: HttpRequest,
    act: Act,
    row: Any,
    *,
    seen: Sequence[str],
    waits: bool,
) -> None:
    """Do it to one row, and say what came of it."""
    name = str(row)
    try:
        if waits:
            done = act(page, request, row)
        else:
            with transaction.atomic():
                locked = page.model._default_manager.select_for_update().filter(pk=row.pk).first()
                if locked is None:
                    raise Conflict("It is gone meanwhile.")
                if seen and not constant_time_compare(
                    request.POST.get(f"seen-{row.pk}", ""), _stamp(locked, seen)
                ):
                    raise Conflict("It has changed since you were asked: look at it again.")
                done = act(page, request, locked)
    except LabelhubError as error:
        messages.error(request, f"{name}: {error.message}")
        return
    if done:
        messages.success(request, f"{name}: {gettext('done.') if done is True else done}")
    else:
        messages.info(request, f"{name}: {gettext('nothing to do, it is so already.')}")


def _stamp(row: Model, seen: Sequence[str]) -> str:
    values = repr([str(getattr(row, name)) for name in seen])
    return salted_hmac("console.seen", f"{row.pk} {values}").hexdigest()[:24] if seen else ""


def _row_url(model: type[Model], pk: object) -> str:
    opts = model._meta
    return reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=[pk])
