"""Sample data for the page that shows every component in every state."""

from typing import Any

from django import forms
from django.core.paginator import Paginator
from django.http import HttpRequest

from apps.common.charts import KIND_WORDS

_NAMES = ("Complaint", "Praise", "Question")
_COUNTS = ((41, 3, 1), (6, 28, 0), (2, 1, 18))
_EVIDENCE = {
    "Complaint": ["The delivery took three weeks", "nobody answered"],
    "Praise": ["three weeks and nobody"],
}
_TEXT = (
    "The delivery took three weeks and nobody answered the phone. "
    "When the lamp came it was lovely, though: warm light, no flicker. <b>Would buy again.</b>"
)


class SampleForm(forms.Form):
    """One field of each type."""

    name = forms.CharField(help_text="Shown to everybody in the project.", initial="Lamp reviews")
    slug = forms.SlugField(help_text="Lower case, digits and dashes.")
    note = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 3}))
    overlap = forms.IntegerField(min_value=1, max_value=20, initial=2)
    scope = forms.ChoiceField(
        choices=[("all", "Everything"), ("doubtful", "Only uncertain items")],
        widget=forms.RadioSelect,
        initial="all",
    )
    protocol = forms.ChoiceField(choices=[("single", "One model, one answer"), ("vote", "A vote")])
    file = forms.FileField(required=False)
    blind = forms.BooleanField(
        required=False, label="Hide suggestions", help_text="For a share of the items."
    )


def design_samples(request: HttpRequest) -> dict[str, Any]:
    """The context of the page, without the database."""
    wrong = SampleForm({"name": "Lamp reviews", "slug": "Lamp reviews!", "overlap": "40"})
    pages = Paginator(range(1, 1241), 50)
    return {
        "form": SampleForm(),
        "wrong": wrong,
        "kinds": tuple(KIND_WORDS),
        "figures": _FIGURES,
        "matrix": [
            {
                "name": name,
                "cells": [_matrix_cell(row, right, label) for label in range(len(_NAMES))],
            }
            for right, (name, row) in enumerate(zip(_NAMES, _COUNTS, strict=True))
        ],
        "matrix_names": _NAMES,
        "page": pages.get_page(request.GET.get("page", 2)),
        "evidence": _EVIDENCE,
        "text": _TEXT,
        "steps": _STEPS,
        "tabs": _TABS,
        "none_present": [],
        "colours": _COLOURS,
        "icons": _ICONS,
        "sort": "priority",
    }


def _matrix_cell(row: tuple[int, ...], right: int, label: int) -> dict[str, Any]:
    return {
        "count": row[label],
        "level": min(4, -(-4 * row[label] // sum(row))),
        "right": right == label,
        "words": f"predicted {_NAMES[label]}, gold {_NAMES[right]}",
        "url": "?cell=1",
    }


_FIGURES = [
    {"name": name, "percent": percent, "figure": figure}
    for name, percent, figure in (
        ("Accuracy", True, {"value": 0.8123, "low": 0.77, "high": 0.85, "n": 412}),
        ("Few items", True, {"value": 0.75, "low": 0.35, "high": 0.97, "n": 8}),
        ("Many items", True, {"value": 0.91234, "low": 0.9101, "high": 0.9148, "n": 52000}),
        ("Krippendorff's alpha", False, {"value": 0.6112, "low": 0.55, "high": 0.68, "n": 300}),
        ("Below chance", False, {"value": -0.12, "low": -0.3, "high": 0.05, "n": 60}),
        ("Without an interval", True, {"value": 0.5, "n": 3}),
        ("Not computed", True, {"value": None, "reason": "needs two annotators on an item"}),
    )
]
_STEPS = [
    {"text": "Data", "url": "#", "state": "done"},
    {"text": "Labels", "url": "#", "state": "done"},
    {"text": "Models", "url": "#", "state": "current"},
    {"text": "People", "url": "#", "state": ""},
]
_TABS = [
    {"text": "All", "url": "?view=all", "current": True, "count": 240},
    {"text": "Uncertain", "url": "?view=uncertain", "count": 31},
    {"text": "Gold", "url": "?view=gold", "count": 0},
]
_COLOURS = (
    "surface", "surface-raised", "surface-sunken", "ink", "ink-quiet", "line", "line-strong",
    "accent", "ok", "warn", "bad", "info", "quote",
)  # fmt: skip
_ICONS = (
    "overview", "setup", "items", "runs", "review", "evaluation", "agreement", "export", "import",
    "people",
    "settings", "projects", "menu", "search", "close", "plus", "minus", "check", "edit", "delete",
    "copy", "undo", "refresh", "skip", "play", "pause", "stop", "filter", "external", "link",
    "leave", "keyboard", "key", "narrow", "chevron-left", "chevron-right", "chevron-down", "up",
    "down", "sort", "tag", "file", "table", "book", "clock", "cost", "chat", "flag", "lock", "run",
    "model", "screen", "sun", "moon", "ok", "warn", "bad", "info",
)  # fmt: skip
