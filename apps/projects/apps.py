from django.apps import AppConfig


class ProjectsConfig(AppConfig):
    name = "apps.projects"

    def ready(self) -> None:
        """Hear of people whose groups change."""
        from apps.accounts.directory import groups_changed  # noqa: PLC0415 - models must be loaded
        from apps.projects.group_roles import apply_group_roles  # noqa: PLC0415 - the same

        groups_changed.connect(apply_group_roles)
