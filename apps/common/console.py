"""Pages of the operator's console: rows to look up, and what operators do to them."""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, TypeAlias

from allauth.account.internal.flows.reauthentication import raise_if_reauthentication_required
from django.contrib import admin, messages
from django.contrib.admin import FieldListFilter, SimpleListFilter
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.sites import AdminSite
from django.contrib.admin.utils import display_for_field
from django.db import transaction
from django.db.models import BooleanField, ForeignKey, Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django_stubs_ext import StrOrPromise
from unfold.admin import ModelAdmin

from apps.common.field_words import FIELD_WORDS
from labelhub.core.errors import Conflict, LabelhubError

Words: TypeAlias = StrOrPromise
#: Does something to one row; True if it had an effect, or the words of it.
Act = Callable[[Any, HttpRequest, Any], bool | str]


class OperatorAdmin(ModelAdmin):
    """A page of the console. Nothing is added, changed or deleted here but by actions and forms
    that call services, which record it."""

    list_display: Any = ("__str__",)
    readonly_fields: Any = ()
    fields: Any = None
    fieldsets: Any = None
    list_per_page = 50
    show_full_result_count = False  # a second count over tables that grow without end
    list_fullwidth = True
    change_form_outer_before_template = "admin/row_actions.html"
    #: The name of the list.
    title: Words = ""
    #: What an empty list says.
    empty_words: Words = ""
    #: Whether a session alone changes nothing here: people must have confirmed who they are.
    asks_again = False

    def __init__(self, model: type[Model], admin_site: AdminSite) -> None:
        super().__init__(model, admin_site)
        shown = {*self.list_display, *(self.fields or ()), *self.readonly_fields}
        own = {
            name: _column(model, name)
            for name in shown & FIELD_WORDS.keys()
            if not hasattr(type(self), name)
        }
        fixed = {name: own[name] for name in self.readonly_fields if name in own}
        self.list_display = [own.get(name, name) for name in self.list_display]
        self.readonly_fields = [own.get(name, name) for name in self.readonly_fields]
        self.fields = self.fields and [own.get(name, name) for name in self.fields]
        self.fieldsets = self.fieldsets and [
            (words, {"fields": [fixed.get(name, name) for name in options["fields"]]})
            for words, options in self.fieldsets
        ]
        # What the theme calls the list. Migrations compare what the class itself says.
        model._meta.verbose_name_plural = self.title

    def get_list_filter(self, _request: HttpRequest) -> Any:
        return [_worded(entry) for entry in self.list_filter]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        self._require_confirmation(request)
        context = {"title": self.title, **(extra_context or {})}
        answer: HttpResponse = super().changelist_view(request, context)
        return answer

    def has_add_permission(self, request: HttpRequest, _obj: Any = None) -> bool:
        return False

    has_change_permission = has_delete_permission = has_add_permission

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_superuser)

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """The page of a row, with its actions as buttons."""
        self._require_confirmation(request)
        actions = [
            {"name": name, "words": words, "asks": getattr(run, "asks", False)}
            for name, (run, _, words) in self.get_actions(request).items()
        ]
        context = {"row_actions": actions if object_id else [], "row_id": object_id}
        return super().changeform_view(
            request, object_id, form_url, context | (extra_context or {})
        )

    def _require_confirmation(self, request: HttpRequest) -> None:
        """As for API keys; the request goes on afterwards."""
        if self.asks_again and request.method == "POST":
            raise_if_reauthentication_required(request, app="")


def badge(words: Words, tone: str = "primary") -> SafeString:
    """Words on the colour of a state, in lists and on pages: ``success``, ``info``, ``warning``,
    ``danger`` or ``primary``."""
    return render_to_string("unfold/helpers/label.html", {"text": words, "variant": tone})


def _column(model: type[Model], name: str) -> Any:
    """A column with the words of its field, shown as Django would."""

    @admin.display(description=FIELD_WORDS[name], ordering=name)
    def cell(row: Model) -> Any:
        found = getattr(row, name)
        field: Any = model._meta.get_field(name)
        if isinstance(field, ForeignKey):
            return str(found) if found is not None else "–"
        if isinstance(field, BooleanField):
            return gettext("Yes") if found else gettext("No")
        return display_for_field(found, field, "–")

    cell.__name__ = f"{name}_words"  # by its own name it would get the English help of its field
    return cell


def _worded(entry: Any) -> Any:
    """A filter by a field, with the words of the field."""
    name, kind = entry if isinstance(entry, tuple) else (entry, None)
    if name not in FIELD_WORDS:
        return entry

    def create(*args: Any, **options: Any) -> FieldListFilter:
        made = (kind or FieldListFilter.create)(*args, **options)
        made.title = FIELD_WORDS[name]
        return made

    return name, create


def condition_filter(
    words: Words, name: str, conditions: Callable[[], Mapping[str, tuple[Words, Q]]]
) -> type[SimpleListFilter]:
    """A filter by one of several conditions: what stands in the address → its words, and what holds
    for the rows."""

    class ConditionFilter(SimpleListFilter):
        title, parameter_name = words, name

        def lookups(self, *_args: Any) -> list[tuple[str, Any]]:
            return [(value, text) for value, (text, _) in conditions().items()]

        def queryset(self, _request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
            _, condition = conditions().get(self.value() or "", ("", Q()))
            return rows.filter(condition)

    return ConditionFilter


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
        return admin.action(description=words, permissions=["operate"])(run)

    return decorate


def _ask(
    page: OperatorAdmin, request: HttpRequest, name: str, rows: list[Any], *, seen: Sequence[str]
) -> HttpResponse:
    action, address = getattr(page, name), request.get_full_path()
    context = {
        **page.admin_site.each_context(request),
        "title": action.words,
        "question": action.question,
        "action": name,
        "rows": [(row, seen_stamp(row, seen)) for row in rows],
        "checkbox": ACTION_CHECKBOX_NAME,
        "from_row": "from_row" in request.POST,
        "opts": page.opts,
        # The browser may show the address of the confirmation.
        "address": address,
        "back": _row_url(page.model, rows[0].pk)
        if "from_row" in request.POST and rows
        else address,
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
                locked = page.get_queryset(request).select_for_update().filter(pk=row.pk).first()
                if locked is None:
                    raise Conflict("It is gone meanwhile.")
                if seen and not constant_time_compare(
                    request.POST.get(f"seen-{row.pk}", ""), seen_stamp(locked, seen)
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


def seen_stamp(row: Model, seen: Sequence[str]) -> str:
    """A proof of what these fields were when a page was shown, to be sent back with it."""
    values = repr([str(getattr(row, name)) for name in seen])
    return salted_hmac("console.seen", f"{row.pk} {values}").hexdigest()[:24] if seen else ""


def _row_url(model: type[Model], pk: object) -> str:
    opts = model._meta
    return reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=[pk])
