"""Words for metrics, shares and arms of experiments; addresses of items; lost promises."""

from collections.abc import Callable
from urllib.parse import urlencode

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_noop

from apps.agreement.automation.page import ending_words, lost_promise
from apps.agreement.charts import dollar_words, is_share
from apps.agreement.experiments.answers import models_of, title_of
from apps.agreement.report.tables import tie_words, weight_words
from apps.common import figures
from apps.common.figures import duration
from apps.debates.models import Run
from apps.projects.models import Project
from labelhub.core.agreement.figures import Figure

register = template.Library()

METRICS = {
    "precision": gettext_noop("Precision"),
    "recall": gettext_noop("Recall"),
    "f1": "F1",
    "accuracy": gettext_noop("Accuracy"),
    "exact_match": gettext_noop("Exact match"),
    "micro_precision": gettext_noop("Micro precision"),
    "micro_recall": gettext_noop("Micro recall"),
    "micro_f1": gettext_noop("Micro F1"),
    "macro_f1": gettext_noop("Macro F1"),
    "mean_absolute_error": gettext_noop("Mean distance"),
}
WHY_NO_COST = {
    "not_recorded": gettext_noop("not recorded"),
    "price_unknown": gettext_noop("the price is unknown"),
}
BASES = {
    "review": gettext_noop("decided by one reviewer"),
    "agreement": gettext_noop("where reviewers agree"),
    "adjudication": gettext_noop("decided by an expert"),
    "author": gettext_noop("answered by the author"),
    "imported": gettext_noop("imported"),
}


@register.filter
def metric_words(name: str) -> str:
    return gettext(METRICS.get(name, name.replace("_", " ")))


@register.filter
def basis_words(basis: str) -> str:
    return gettext(BASES.get(basis, basis))


@register.filter
def arm_title(run: Run) -> str:
    return title_of(run.protocol, run.protocol_settings)


register.filter("arm_models", models_of)
register.filter(figures.share_words)


@register.filter
def usd(cost: Figure) -> str:
    """A mean cost with its interval, or why there is none."""
    return _mean_words(cost, dollar_words)


@register.filter
def time_taken(seconds: Figure) -> str:
    """A mean time with its interval, or why there is none."""
    return _mean_words(seconds, duration)


@register.simple_tag(takes_context=True)
def items_behind(context: template.Context, **asked: str) -> str:
    """Address of the items behind a number, within the part of the labels that is shown."""
    query = urlencode({**context["report"]["slice"], **asked})
    return f"{reverse('agreement_items', args=[context['project'].slug])}?{query}"


@register.simple_tag(takes_context=True)
def behind_count(context: template.Context, items: float, **asked: str) -> str:
    """How many items, leading to them; a plain number in a file, which leads nowhere."""
    if not items or context.get("alone"):
        return weight_words(items)
    url = items_behind(context, **asked)
    return format_html('<a href="{}">{}</a>', url, weight_words(items))


register.simple_tag(tie_words, name="ties")
register.filter(is_share)
register.filter(weight_words)


def _mean_words(shown: Figure, say: Callable[[float], str]) -> str:
    if shown["value"] is None:
        return gettext(WHY_NO_COST.get(shown["reason"], shown["reason"]))
    low, high = shown.get("low"), shown.get("high")
    if low is None or high is None:
        return say(shown["value"])
    return f"{say(shown['value'])} ({figures.range_words(say(low), say(high))})"


@register.filter
def percent(value: float | None) -> str:
    """A share as per cent with enough digits to differ from 0 and 100: ``5 %``, ``0.25 %``."""
    if value is None:
        return "—"
    shown = 100 * value
    words = f"{shown:.2g}" if abs(shown) < 1 else f"{round(shown, 1):g}"
    return figures.percent_words(words)


@register.inclusion_tag("agreement/automation_notice.html")
def automation_notice(project: Project) -> dict[str, object]:
    """A notice that a promise broke or was suspended, until another one is begun."""
    lost = lost_promise(project)
    return {"project": project, "lost": lost, "words": ending_words(lost) if lost else ""}
