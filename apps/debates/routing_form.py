"""The form of a routing rule: its flags by what they are about, its bounds, the audited share."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms

from labelhub.core.debate.routing import (
    AT_MOST,
    FLAGS,
    MOST_AUDIT,
    THRESHOLDS,
    Rule,
    Threshold,
    read_rule,
)

#: The flags of ``core.debate.routing`` by what a manager decides about together.
GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("An answer is missing", ("unparsed", "truncated", "refused", "too_long", "failed")),
    ("An answer is not as it should be", ("cut_off", "lenient")),
    ("The text may give orders", ("injection",)),
    (
        "The models differ",
        ("first_round_differs", "dissent", "tie", "no_majority", "extractor_differs",
         "critic_differs", "changed_mind"),
    ),
    ("The judges are unsure", ("judge_adds", "judges_differ", "overturned", "outside")),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag to choose, and how many of the latest debates raised it."""

    code: str
    words: str
    debates: int
    checked: bool


class RoutingForm(forms.Form):
    """A routing rule as a manager edits it.

    Args:
        data: what was sent, or None for ``rule`` as it is.
        rule: the rule to begin with.
    """

    flags = forms.MultipleChoiceField(required=False, choices=list(FLAGS.items()))
    audit = forms.FloatField(
        min_value=0,
        max_value=100 * MOST_AUDIT,
        label="Audited, in per cent",
        help_text="Of what is accepted without a person, so many are labelled by people all the "
        "same, blind: the only unbiased measure of its error.",
    )
    capacity = forms.IntegerField(
        min_value=0,
        required=False,
        label="People can look at so many",
        help_text="Only to find bounds by; nothing is kept of it.",
    )

    def __init__(self, data: Mapping[str, Any] | None = None, *, rule: Rule) -> None:
        initial = {"flags": sorted(rule.flags), "audit": f"{100 * rule.audit:g}"}
        initial |= {f"bound_{name}": f"{bound:g}" for name, bound in rule.bounds.items()}
        super().__init__(data, initial=initial)
        for threshold in THRESHOLDS:
            self.fields[f"bound_{threshold.signal}"] = _bound_field(threshold)
        self.fields["audit"].widget.attrs["step"] = "any"

    def bound(self, threshold: Threshold) -> forms.BoundField:
        """The field of a threshold's bound."""
        return self[f"bound_{threshold.signal}"]

    def groups(self, raised: Mapping[str, int]) -> Iterator[tuple[str, list[Flag]]]:
        """The flags to choose from, with how many debates ``raised`` each."""
        chosen = self["flags"].value() or []
        for title, codes in GROUPS:
            yield (
                title,
                [Flag(code, FLAGS[code], raised.get(code, 0), code in chosen) for code in codes],
            )

    def rule(self) -> Rule:
        """The rule in the checked form."""
        data = self.cleaned_data
        bounds = {each.signal: data[f"bound_{each.signal}"] for each in THRESHOLDS}
        return read_rule(
            {"flags": data["flags"], "bounds": bounds, "audit": round(data["audit"] / 100, 6)}
        )


def _bound_field(threshold: Threshold) -> forms.FloatField:
    side = "At most" if threshold.side == AT_MOST else "At least"
    field = forms.FloatField(
        min_value=threshold.low,
        max_value=threshold.high,
        required=False,
        label=f"{threshold.title}: {side.lower()}",
    )
    field.widget.attrs |= {"step": "1" if threshold.whole else "any", "placeholder": "off"}
    return field
