"""The panel of a search: what there is to choose from; ``read_query`` reads what was chosen."""

from collections.abc import Iterable
from typing import Any

from django import forms

from apps.accounts.roles import ROLES_WITH, Right
from apps.debates.naming import REASON_WORDS
from apps.labels.models import Annotator, Gold, Kind
from apps.projects.models import Membership, Project
from apps.projects.selectors import current_schema
from apps.reviews.search.query import ACTIONS, COMMENTED, DIFFERING, STAGES

MOST_NAMED = 200
Choices = list[tuple[Any, str]]


def _any(choices: Iterable[tuple[Any, Any]], empty: str = "Any") -> Choices:
    return [("", empty), *((value, str(words)) for value, words in choices)]


def _choose(label: str, choices: Choices | None = None) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=choices or [("", "Any")], required=False)


def _share(label: str) -> forms.FloatField:
    widget = forms.NumberInput(attrs={"min": 0, "max": 1, "step": 0.01})
    return forms.FloatField(label=label, required=False, widget=widget)


def _day(label: str) -> forms.DateField:
    widget = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    return forms.DateField(label=label, required=False, widget=widget)


class SearchForm(forms.Form):
    """All fields of a search, in groups; shown, not validated."""

    q = forms.CharField(
        label="Words or id",
        required=False,
        max_length=200,
        widget=forms.TextInput(
            attrs={"type": "search", "autocomplete": "off", "placeholder": "Words or id"}
        ),
    )
    stage = _choose("Stage", _any(STAGES, "Any stage"))
    label = _choose("Label")
    kind = _choose("Annotator kind", _any(Kind.choices))
    annotator = _choose("Labelled by")
    not_by = _choose("Not labelled by", [("", "—")])
    action = _choose("Action of a person", _any(ACTIONS))
    suggested = _choose("Suggestion")
    gold = _choose("Gold")
    basis = _choose(
        "Basis of gold",
        _any((value, words) for value, words in Gold.Basis.choices if value != "withdrawn"),
    )
    differ = _choose("Disagreement", _any(DIFFERING, "—"))
    reason = _choose("Uncertain because", _any(REASON_WORDS.items()))
    uncertainty_min = _share("Debate’s uncertainty from")
    uncertainty_max = _share("Debate’s uncertainty to")
    learned_min = _share("Trained model’s uncertainty from")
    learned_max = _share("Trained model’s uncertainty to")
    assigned = _choose("Assigned to")
    skipped_by = _choose("Skipped by", [("", "—")])
    comments = _choose("Comments", _any(COMMENTED))
    comment = forms.CharField(label="Comment contains", required=False, max_length=200)
    comment_by = _choose("Comment by")
    batch = _choose("Import")
    created_from = _day("Imported from")
    created_to = _day("Imported until")
    labelled_from = _day("Labelled from")
    labelled_to = _day("Labelled until")
    decided_from = _day("Decided from")
    decided_to = _day("Decided until")

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.auto_id = "search-%s"
        schema = current_schema(project).parsed
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
                _any([*named, ("[]", "None of these")] if schema.task.several else named),
                free=not schema.names,
            )
        self._offer("annotator", _any(annotators))
        self._offer("not_by", _any(annotators, "—"))
        self._offer("assigned", _any([(0, "Nobody"), *people]))
        self._offer("skipped_by", _any([(0, "Anybody"), *people], "—"))
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
    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The fields besides words and stage, under their headings."""
        return [(title, [self[name] for name in names]) for title, names in GROUPS]


GROUPS = (
    ("Labels", ("label", "kind", "annotator", "not_by", "action", "suggested", "gold", "basis",
                "differ")),
    ("Uncertainty", ("reason", "uncertainty_min", "uncertainty_max", "learned_min", "learned_max")),
    ("People and comments", ("assigned", "skipped_by", "comments", "comment", "comment_by")),
    ("Import and dates", ("batch", "created_from", "created_to", "labelled_from", "labelled_to",
                             "decided_from", "decided_to")),
)  # fmt: skip


def people_of(project: Project) -> list[tuple[int, str]]:
    """Ids and names of those who review here."""
    members = Membership.objects.filter(project=project, role__in=ROLES_WITH[Right.REVIEW])
    names = members.order_by("user__username").values_list("user_id", "user__username")
    return list(names[:MOST_NAMED])
