"""The part of a project's ledger that a report covers, and the form to choose it."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.db.models import Q, QuerySet, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.http import QueryDict
from django.utils.timezone import make_aware
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from apps.agreement.evaluation import evaluated_runs, run_words
from apps.common.forms import show_refusal
from apps.debates.models import Run
from apps.labels.models import Annotator, Kind
from apps.projects.models import Item, LabelSchema, Project
from apps.projects.selectors import current_schema
from labelhub.core.errors import InvalidInput, LabelhubError, NotFound
from labelhub.core.phrases import Phrase, join_sentences
from labelhub.core.schema import Schema

MOST_TAG = 200
#: Intervals for other annotators like these; by default they are for these.
OTHERS = "annotators"


@dataclass(frozen=True, slots=True)
class Slice:
    """Everything by default.

    ``kind``, ``annotator``: only their labels. ``run``: of machines only this run's labels.
    ``label``: every answer becomes this label or not. ``since``, ``until``: days, both included.
    ``tag``: only items that carry it: ``urgent``, or ``key=value`` of an item's meta data.
    ``intervals``: empty for these annotators, or ``annotators``: for others like them.
    """

    kind: str = ""
    annotator: int | None = None
    run: int | None = None
    replicate: int = 1
    label: str = ""
    since: date | None = None
    until: date | None = None
    tag: str = ""
    intervals: str = ""

    @property
    def partial(self) -> bool:
        """Whether it leaves out any labels, or what they say."""
        return bool(self.given.keys() - {"intervals"})

    @property
    def given(self) -> Mapping[str, str]:
        """The fields that differ from their defaults, as in an address."""
        values: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        defaults = Slice()
        return {
            name: str(value) for name, value in values.items() if value != getattr(defaults, name)
        }

    @property
    def query(self) -> str:
        """The same as the query of an address."""
        return urlencode(self.given)


def check_slice(project: Project, schema: Schema, asked: Slice) -> None:
    """Refuse a slice with values that the project does not have.

    Raises:
        InvalidInput: a kind, label, tag or span of days that cannot be.
        NotFound: no such annotator or run in this project.
    """
    if asked.kind and asked.kind not in Kind.values:
        raise InvalidInput(
            "kind: '%(kind)s' is not one of %(values)s.",
            kind=asked.kind[:40],
            values=", ".join(Kind.values),
        )
    if asked.since and asked.until and asked.since > asked.until:
        raise InvalidInput("since: lies after until.")
    key, _, _ = asked.tag.partition("=")
    if len(asked.tag) > MOST_TAG or "\0" in asked.tag or _is_number(key):
        raise InvalidInput(
            "tag: at most %(most_tag)s characters of text; a key is no number.", most_tag=MOST_TAG
        )
    if asked.replicate != 1 and asked.run is None:
        raise InvalidInput("replicate: say of which run.")
    if asked.label:
        _check_label(schema, asked.label)
    if asked.annotator is not None and not _exists(Annotator, project, asked.annotator):
        raise NotFound(
            "annotator: this project has no annotator %(annotator_id)s.",
            annotator_id=str(asked.annotator),
        )
    if asked.run is not None and not _exists(Run, project, asked.run):
        raise NotFound("run: this project has no run %(run_id)s.", run_id=str(asked.run))


def tagged_items(project: Project, tag: str) -> Q:
    """Rows about items of the project that carry ``tag``."""
    if not tag:
        return Q()
    key, equals, value = tag.partition("=")
    if equals:
        return Q(item__in=_items_by_meta(project, key, exact=value))
    single = Q(item__in=_items_by_meta(project, "tag", exact=tag))
    return single | Q(item__in=_items_by_meta(project, "tags", listed=tag))


def created_within(asked: Slice, field: str = "created_at") -> Q:
    found = Q()
    if asked.since:
        found &= Q(**{f"{field}__gte": make_aware(datetime.combine(asked.since, time.min))})
    if asked.until:
        found &= Q(**{f"{field}__lte": make_aware(datetime.combine(asked.until, time.max))})
    return found


def _items_by_meta(
    project: Project, key: str, *, exact: str | None = None, listed: str | None = None
) -> Any:
    # A cast, as lookups would take the text for JSON again.
    value = Cast(KeyTextTransform(key, "meta"), TextField())
    rows = Item.objects.filter(project=project).annotate(tagged=value)
    if exact is not None:
        return rows.filter(tagged=exact).values("pk")
    # One database keeps letters beyond ASCII as they are, the other as \u escapes.
    plain, escaped = json.dumps(listed, ensure_ascii=False), json.dumps(listed)
    return rows.filter(Q(tagged__contains=plain) | Q(tagged__contains=escaped)).values("pk")


def _is_number(key: str) -> bool:
    """Whether a database would read the key as an index of a list."""
    try:
        int(key)
    except ValueError:
        return False
    return True


def _check_label(schema: Schema, label: str) -> None:
    if not schema.task.labelled:
        raise InvalidInput("label: answers of this project have no labels in common.")
    if schema.label(label) is None:
        raise InvalidInput("label: the schema has no '%(label)s'.", label=label[:80])


def _exists(model: Any, project: Project, key: int) -> bool:
    return bool(model.objects.filter(project=project, pk=key).exists())


#: Annotators that an error message lists; letters of each name.
MOST_LISTED, MOST_NAME = 5, 40
_NUMBERED = re.compile(r"(?:^|#)(\d{1,9})$", re.ASCII)


def find_annotator_id(project: Project, text: str) -> int:
    """A number, ``ann, Crowd #12`` as it is suggested, or a name that only one has.

    Authors are never found by their name. A number is not checked against the project.

    Raises:
        InvalidInput: no annotator, or more than one, has the name; the message lists some.
    """
    numbered = _NUMBERED.search(text.strip())
    if numbered:
        return int(numbered[1])
    name = text.strip()
    found = list(
        named_annotators(project).filter(name__iexact=name).order_by("pk")[: MOST_LISTED + 1]
    )
    if len(found) == 1:
        return found[0].pk
    if found:
        raise InvalidInput.at(
            "annotator",
            "Several are called “%(name)s”: %(found)s. Give the number.",
            name=name[:MOST_NAME],
            found=_join_titles(found),
        )
    some = list(named_annotators(project).order_by("pk")[: MOST_LISTED + 1])
    faults: list[str] = [Phrase("Nobody is called “%(name)s”.", name=name[:MOST_NAME])]
    if some:
        faults.append(
            Phrase("Give the number or a name, such as %(names)s.", names=_join_titles(some))
        )
    raise InvalidInput.at("annotator", join_sentences(*faults))


def annotator_title(project: Project, key: int | str | None) -> str:
    """``ann, Crowd #12``; empty without a ``key`` or such an annotator. One query with one."""
    annotator = Annotator.objects.filter(project=project, pk=key).first() if key else None
    return describe_annotator(annotator) if annotator else ""


def describe_annotator(annotator: Annotator, most: int | None = None) -> str:
    """``ann, Crowd #12``, with at most ``most`` letters of the name; of authors only the number."""
    numbered = f"{annotator.get_kind_display()} #{annotator.pk}"
    return numbered if annotator.kind == Kind.AUTHOR else f"{annotator.name[:most]}, {numbered}"


def named_annotators(project: Project) -> QuerySet[Annotator]:
    """Annotators whose names may be shown: all but authors."""
    return Annotator.objects.filter(project=project).exclude(kind=Kind.AUTHOR)


def _join_titles(some: Iterable[Annotator]) -> str:
    *listed, last = [describe_annotator(annotator, MOST_NAME) for annotator in some]
    return "; ".join([*listed[:MOST_LISTED], "…" if len(listed) == MOST_LISTED else last])


MOST_RUNS = 30
#: Numbers of rows fit a column of any database.
MOST_NUMBER = 2_147_483_647


def _day(label: StrOrPromise) -> forms.DateField:
    """A day as browsers send it; REST and the command write days the same way."""
    return forms.DateField(
        required=False,
        label=label,
        input_formats=["%Y-%m-%d"],
        widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
        error_messages={"invalid": _("Not a day such as 2026-11-01.")},
    )


class SliceForm(forms.Form):
    """An empty form means all labels; ``slice`` is set by ``is_valid()``."""

    kind = forms.CharField(required=False, widget=forms.Select, label=_("Kind"))
    annotator = forms.CharField(
        required=False,
        max_length=250,
        label=_("Annotator"),
        widget=forms.TextInput(attrs={"list": "slice-annotators", "autocomplete": "off"}),
    )
    run = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_NUMBER,
        widget=forms.Select,
        label=_("Run"),
    )
    replicate = forms.IntegerField(
        required=False, min_value=1, max_value=MOST_NUMBER, widget=forms.HiddenInput
    )
    label = forms.CharField(required=False, widget=forms.Select, label=_("Label, or not"))
    since = _day(_("From"))
    until = _day(_("To"))
    tag = forms.CharField(
        required=False,
        label=_("Tag, or key=value"),
        widget=forms.TextInput({"maxlength": MOST_TAG, "autocomplete": "off"}),
    )

    intervals = forms.ChoiceField(
        required=False,
        choices=[("", _("these annotators")), (OTHERS, _("other annotators like these"))],
        label=_("Intervals for"),
    )

    def __init__(self, project: Project, given: QueryDict) -> None:
        self._given = given.copy()
        super().__init__(self._given, auto_id="slice-%s")
        self._project = project
        self.schema = current_schema(project)
        self.slice = Slice()

    def clean_annotator(self) -> int | None:
        """A number, ``ann, Crowd #12`` as it is suggested, or a name that only one has."""
        text: str = self.cleaned_data["annotator"]
        try:
            return find_annotator_id(self._project, text) if text else None
        except InvalidInput as error:
            show_refusal(self, error)
            return None

    def clean(self) -> dict[str, Any]:
        """The whole slice; an unknown value is an error of its field."""
        cleaned = super().clean() or {}
        since, until = cleaned.get("since"), cleaned.get("until")
        if since and until and since > until:
            self.add_error("since", gettext("Lies after “To”."))
        if self.errors:
            return cleaned
        self.slice = Slice(**{name: value for name, value in cleaned.items() if value})
        try:
            check_slice(self._project, self.schema.parsed, self.slice)
        except LabelhubError as error:
            show_refusal(self, error)
        return cleaned

    def offer(self) -> None:
        """Fill in the choices; a chosen value stays. Two queries, or three."""
        kinds = Annotator.objects.filter(project=self._project).values_list("kind", flat=True)
        present = set(kinds.order_by().distinct())
        self._choose(
            "kind",
            gettext("all"),
            [(str(kind), str(label)) for kind, label in Kind.choices if kind in present],
        )
        runs = evaluated_runs(self._project)[:MOST_RUNS]
        dated = [(str(run.pk), run_words(run)) for run in runs]
        self._choose("run", gettext("the latest of each machine"), dated)
        self._choose(
            "label", gettext("all labels"), [(name, name) for name in self.schema.parsed.names]
        )
        if self.slice.annotator is not None:
            self._given["annotator"] = annotator_title(self._project, self.slice.annotator)

    def _choose(self, name: str, nothing: str, offered: list[tuple[str, str]]) -> None:
        """An empty choice, the offered ones, and the address's value if it is none of them."""
        given = self._given.get(name, "")
        beyond = [] if given in ("", *dict(offered)) else [(given, given[:80])]
        if not offered and not beyond:
            del self.fields[name]
            return
        self.fields[name].widget.choices = [("", nothing), *offered, *beyond]


def read_slice(project: Project, given: QueryDict) -> tuple[Slice, LabelSchema]:
    """The slice of an address, and the schema that it was checked against.

    Raises:
        InvalidInput: it means nothing in this project; in the words of the form.
    """
    form = SliceForm(project, given)
    if form.is_valid():
        return form.slice, form.schema
    faults = {form[name].label: words for name, words in form.errors.items() if name in form.fields}
    messages = [f"{label}: {' '.join(map(str, words))}" for label, words in faults.items()]
    raise InvalidInput(" ".join([*messages, *map(str, form.non_field_errors())]))


def compared_annotators(report: Mapping[str, Any]) -> list[str]:
    """The annotators that a report compares, as suggestions for the field."""
    found: dict[int, str] = {}
    for pair in report["between"]:
        if pair["level"] == "annotator":
            for side in "ab":
                kind = Kind(pair[f"{side}_kind"]).label
                found[pair[f"{side}_id"]] = f"{pair[side]}, {kind} #{pair[f'{side}_id']}"
    return list(found.values())
