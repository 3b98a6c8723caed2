"""Words for shares on the page of safe automation, and what an overview says of a lost promise."""

from django import template

from apps.agreement.automation.page import lost_promise
from apps.agreement.automation.words import ending_words
from apps.projects.models import Project

register = template.Library()


@register.filter
def percent(value: float | None) -> str:
    """A share as per cent with as many digits as tell it from 0 and 100: ``5 %``, ``0.25 %``."""
    if value is None:
        return "—"
    shown = 100 * value
    return f"{shown:.2g}\xa0%" if abs(shown) < 1 else f"{round(shown, 1):g}\xa0%"


@register.inclusion_tag("agreement/automation_notice.html")
def automation_notice(project: Project) -> dict[str, object]:
    """Says that a promise broke or was suspended, until another one is begun."""
    lost = lost_promise(project)
    return {"project": project, "lost": lost, "words": ending_words(lost) if lost else ""}
