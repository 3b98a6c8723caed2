"""What pages elsewhere say of a project's webhooks."""

from django import template

from apps.exchange.webhooks.services import troubled
from apps.projects.models import Project

register = template.Library()


@register.inclusion_tag("exchange/webhook_list.html#notice")
def webhook_notice(project: Project) -> dict[str, object]:
    """Says that receivers are told nothing any more, until somebody sees to it."""
    return {"project": project, "count": troubled(project)}
