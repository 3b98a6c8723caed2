"""Projects in the operator's console, with links to their pages, which change them."""

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.common.console import OperatorAdmin
from apps.projects.models import Project


@admin.register(Project)
class ProjectAdmin(OperatorAdmin):
    """Projects."""

    title = _("Projects")
    list_display = ["slug", "name", "created_by", "created_at", "pages"]
    search_fields = ["slug", "name", "description"]
    list_select_related = ["created_by"]
    fields = ["pages", "slug", "name", "description", "overlap", "created_by", "created_at"]
    readonly_fields = ["pages"]
    empty_words = _("There is no project yet. Create one on the start page of LabelHub.")

    @admin.display(description=_("Pages"))
    def pages(self, project: Project) -> SafeString:
        """Links to its pages."""
        names = {
            "project_overview": gettext("Overview"),
            "project_people": gettext("People"),
            "project_audit": gettext("Audit log"),
        }
        links = [
            format_html(
                '<a class="text-link" href="{}">{}</a>', reverse(page, args=[project.slug]), words
            )
            for page, words in names.items()
        ]
        return format_html("{} · {} · {}", *links)
