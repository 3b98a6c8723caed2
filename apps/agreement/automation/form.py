"""The form of a promise, in per cent as people say it."""

from django import forms

from apps.agreement.automation import promise

COVERAGES = (
    ("75", "three quarters of the items"),
    ("50", "half of the items"),
    ("25", "a quarter of the items"),
    ("10", "a tenth of the items"),
)
#: A promise of fewer errors would take more than thirty thousand labels at the usual confidence.
LEAST_PERCENT = 0.01


class PromiseForm(forms.Form):
    """Target, confidence and hoped coverage."""

    target = forms.FloatField(
        min_value=LEAST_PERCENT,
        max_value=100 * promise.MOST_TARGET,
        initial=f"{100 * promise.USUAL_TARGET:g}",
        widget=forms.NumberInput(attrs={"step": "any"}),
        error_messages={"min_value": f"Say at least {LEAST_PERCENT:g} per cent."},
        label="At most so many per cent wrong",
        help_text="Among the items that are accepted without a person.",
    )
    confidence = forms.FloatField(
        min_value=100 * promise.LEAST_CONFIDENCE,
        max_value=100 * promise.MOST_CONFIDENCE,
        initial=f"{100 * promise.USUAL_CONFIDENCE:g}",
        widget=forms.NumberInput(attrs={"step": "any"}),
        label="With a confidence of, in per cent",
        help_text="Of a hundred projects that promise so, at least so many keep it.",
    )
    coverage = forms.ChoiceField(
        choices=COVERAGES,
        initial="50",
        label="You hope to accept at least",
        help_text="The fewer are accepted, the more must be labelled to have enough of them.",
    )

    def asked(self) -> tuple[float, float, float]:
        """Target, confidence and coverage of the checked form, as shares in [0, 1]."""
        data = self.cleaned_data
        return _share(data["target"]), _share(data["confidence"]), _share(float(data["coverage"]))


def _share(percent: float) -> float:
    # 2.3 per cent as 0.023, not as 0.022999999999999996.
    return round(percent / 100, 10)
