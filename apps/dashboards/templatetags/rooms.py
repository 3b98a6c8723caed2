"""The menu and the tabs of a project's pages."""

from typing import Any

from django import template

from apps.accounts.roles import Role
from apps.dashboards.rooms import shown_rooms
from apps.dashboards.selectors import menu_facts

register = template.Library()


@register.simple_tag(takes_context=True)
def project_menu(context: template.Context) -> dict[str, Any]:
    """``rooms`` of ``project`` for the user, and ``unread`` comments for them. One query."""
    project = context["project"]
    facts = menu_facts(project, context["user"])
    rooms = shown_rooms(
        project.slug,
        role=Role(context.get("role") or Role.VIEWER),
        current=str(context.get("nav", "")),
        present=facts.present,
    )
    return {"rooms": rooms, "unread": facts.unread}
