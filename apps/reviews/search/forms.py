"""The panel of a search: what there is to choose from; ``read_query`` reads what was chosen."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from apps.accounts.roles import ROLES_WITH, Right
from apps.debates.naming import REASON_WORDS, reason_words
from apps.labels.models import Annotator, Gold, Kind
from apps.projects.models import Membership, Project
from apps.projects.selectors import current_schema
from apps.reviews.search.query import ACTIONS, COMMENTED, DIFFERING, STAGES

MOST_NAMED = 200
Choices = list[tuple[Any, StrOrPromise]]


def _any(choices: Iterable[tuple[Any, Any]], empty: StrOrPromise | None = None) -> Choices:
    return [("", _("Any") if empty is None else empty), *choices]


def _choose(label: StrOrPromise, choices: Choices | None = None) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=choices or [("", _("Any"))], required=False)


def _share(label: StrOrPromise) -> forms.FloatField:
    widget = forms.NumberInput(attrs={"min": 0, "max": 1, "step": 0.01})
    return forms.FloatField(label=label, required=False, widget=widget)


def _day(label: StrOrPromise) -> forms.DateField:
    widget = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    return forms.DateField(label=label, required=False, widget=widget)


class SearchForm(forms.Form):
    """All fields of a search, in groups; shown, not validated."""

    q = forms.CharField(
        label=_("Words or id"),
        required=False,
        max_length=200,
        widget=forms.TextInput(
            attrs={"type": "search", "autocomplete": "off", "placeholder": _("Words or id")}
        ),
    )
    stage = _choose(_("Stage"), _any(STAGES, _("Any stage")))
    label = _choose(_("Label"))
    kind = _choose(_("Annotator kind"), _any(Kind.choices))
    annotator = _choose(_("Labelled by"))
    not_by = _choose(_("Not labelled by"), [("", "—")])
    action = _choose(_("Action of a person"), _any(ACTIONS))
    suggested = _choose(_("Suggestion"))
    gold = _choose(_("Gold"))
    basis = _choose(
        _("Basis of gold"),
        _any((value, words) for value, words in Gold.Basis.choices if value != "withdrawn"),
    )
    differ = _choose(_("Disagreement"), _any(DIFFERING, "—"))
    reason = _choose(_("Uncertain because"))
    uncertainty_min = _share(_("Debate’s uncertainty from"))
    uncertainty_max = _share(_("Debate’s uncertainty to"))
    learned_min = _share(_("Trained model’s uncertainty from"))
    learned_max = _share(_("Trained model’s uncertainty to"))
    assigned = _choose(_("Assigned to"))
    skipped_by = _choose(_("Skipped by"), [("", "—")])
    comments = _choose(_("Comments"), _any(COMMENTED))
    comment = forms.CharField(label=_("Comment contains"), required=False, max_length=200)
    comment_by = _choose(_("Comment by"))
    batch = _choose(pgettext_lazy("noun", "Import"))
    created_from = _day(_("Imported from"))
    created_to = _day(_("Imported until"))
    labelled_from = _day(_("Labelled from"))
    labelled_to = _day(_("Labelled until"))
    decided_from = _day(_("Decided from"))
    decided_to = _day(_("Decided until"))

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.auto_id = "search-%s"
        self.schema = schema = current_schema(project).parsed
        # Not the authors: there may be as many as items.
        found = Annotator.objects.filter(project=project).exclude(kind=Kind.AUTHOR)
        rows = found.order_by("kind", "name").only("pk", "name", "kind")[:MOST_NAMED]
        annotators = [(row.pk, f"{row.name} ({Kind(row.kind).label})") for row in rows]
        people = people_of(project)
        imports = [
            (batch.pk, f"{batch.file_name} ({batch.pk})") for batch in project.imports.all()[:50]
        ]
        for name in ("label", "suggested", "gold"):
            named = [(label.name, label.name) for label in schema.labels]
            self._offer(
                name,
                _any([*named, ("[]", gettext("None of these"))] if schema.task.several else named),
                free=not schema.names,
            )
        self._offer("reason", _any((code, reason_words(code)) for code in REASON_WORDS))
        self._offer("annotator", _any(annotators))
        self._offer("not_by", _any(annotators, "—"))
        self._offer("assigned", _any([(0, gettext("Nobody")), *people]))
        self._offer("skipped_by", _any([(0, gettext("Anybody")), *people], "—"))
        self._offer("comment_by", _any(people))
        self._offer("batch", _any(imports))

    def _offer(self, name: str, choices: Choices, *, free: bool = False) -> None:
        """Set the choices; a value from the address stays, even if it is not among them."""
        field = self.fields[name]
        now = str(self.initial.get(name, "") or "")
        if free:
            self.fields[name] = forms.CharField(label=field.label, required=False, max_length=200)
            return
        if now and now not in {str(value) for value, _ in choices}:
            choices = [*choices, (now, now)]
        field.widget.choices = choices

    @property
    def groups(self) -> list[tuple[StrOrPromise, list[forms.BoundField]]]:
        """The fields besides words and stage, under their headings."""
        return [(title, [self[name] for name in names]) for title, names in GROUPS]


GROUPS = (
    (_("Labels"), ("label", "kind", "annotator", "not_by", "action", "suggested", "gold", "basis",
                   "differ")),
    (_("Uncertainty"), ("reason", "uncertainty_min", "uncertainty_max", "learned_min",
                        "learned_max")),
    (_("People and comments"), ("assigned", "skipped_by", "comments", "comment", "comment_by")),
    (_("Import and dates"), ("batch", "created_from", "created_to", "labelled_from", "labelled_to",
                             "decided_from", "decided_to")),
)  # fmt: skip


def people_of(project: Project) -> list[tuple[int, str]]:
    members = Membership.objects.filter(project=project, role__in=ROLES_WITH[Right.REVIEW])
    names = members.order_by("user__username").values_list("user_id", "user__username")
    return list(names[:MOST_NAMED])
