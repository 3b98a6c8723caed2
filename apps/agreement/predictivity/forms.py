"""The form that plans a study."""

from collections.abc import Sequence
from typing import Any

from django import forms

from apps.agreement.predictivity.drawing import WHOSE
from apps.agreement.predictivity.planning import USUAL_EXAMPLES, StudyPlan
from apps.common.figures import nanousd
from apps.debates.form_fields import MOST_ITEMS, dollars_field, model_words
from apps.llm.selectors import default_model, list_models
from labelhub.core.agreement.predictivity import MOST_EXAMPLES


class StudyForm(forms.Form):
    """Which model, whose labels, how many examples, how much of everything."""

    def __init__(
        self, sources: Sequence[str], usual: Sequence[str], data: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(data, **kwargs)
        known = {str(model.pk): model for model in list_models()}
        self.fields["model"] = forms.TypedChoiceField(
            choices=[(pk, model_words(model)) for pk, model in known.items()],
            coerce=known.__getitem__,
            initial=str(default_model().pk),
            label="Which model predicts",
            help_text="It is sent the authors' texts and answers, without personal data.",
        )
        self.fields["sources"] = forms.MultipleChoiceField(
            choices=[(source, WHOSE[source]) for source in sources],
            initial=list(usual),
            widget=forms.CheckboxSelectMultiple,
            label="Whose labels are shown",
            help_text="Only items that all of these have labelled become examples.",
        )
        self.fields["examples"] = forms.TypedMultipleChoiceField(
            choices=[(str(number), str(number)) for number in range(MOST_EXAMPLES + 1)],
            coerce=int,
            initial=[str(number) for number in USUAL_EXAMPLES],
            widget=forms.CheckboxSelectMultiple,
            label="How many examples",
        )
        self.fields["limit"] = forms.IntegerField(
            min_value=1,
            max_value=MOST_ITEMS,
            required=False,
            label="How many items",
            help_text="Empty: all of them. Of fewer, a sample that is always the same.",
        )
        self.fields["budget"] = dollars_field(
            "The study pauses before it would cost more. Needs known prices.",
            "Budget in USD",
            required=False,
        )
        self.fields["unlimited"] = _no_budget_field()

    def plan(self) -> StudyPlan:
        """What was asked for; only after ``is_valid()``."""
        fields = self.cleaned_data
        return StudyPlan(
            model=fields["model"],
            sources=tuple(fields["sources"]),
            examples=tuple(fields["examples"]),
            limit=fields["limit"],
            budget_nanousd=nanousd(fields["budget"]),
            unlimited=fields["unlimited"],
        )


def _no_budget_field() -> forms.BooleanField:
    return forms.BooleanField(
        required=False,
        label="No budget",
        help_text="Otherwise a study that is continued keeps the budget it has.",
    )
