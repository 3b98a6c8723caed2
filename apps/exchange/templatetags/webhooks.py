"""A notice about a project's webhooks, for other pages."""

from django import template

from apps.exchange.webhooks.services import count_stopped
from apps.projects.models import Project

register = template.Library()


@register.inclusion_tag("exchange/webhook_list.html#notice")
def webhook_notice(project: Project) -> dict[str, object]:
    """A notice of webhooks that were stopped because of their receivers."""
    return {"project": project, "count": count_stopped(project)}
