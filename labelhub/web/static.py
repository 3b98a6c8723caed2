"""Find the static files to serve."""

from typing import Any

from django.apps import apps
from django.contrib.staticfiles.finders import AppDirectoriesFinder

#: Its files are for the browsable API, which is off.
UNUSED = {"rest_framework"}


class UsedAppsFinder(AppDirectoriesFinder):
    """The files of every app except the unused ones."""

    def __init__(self, app_names: Any = None, *args: Any, **kwargs: Any) -> None:
        names = app_names or {config.name for config in apps.get_app_configs()}
        super().__init__(set(names) - UNUSED, *args, **kwargs)
