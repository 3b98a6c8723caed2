"""Which apps' static files are served."""

from typing import Any

from django.apps import apps
from django.contrib.staticfiles.finders import AppDirectoriesFinder

#: Its files are those of its browsable API, which we do not have.
UNUSED = {"rest_framework"}


class UsedAppsFinder(AppDirectoriesFinder):
    """The files of every app but the unused ones."""

    def __init__(self, app_names: Any = None, *args: Any, **kwargs: Any) -> None:
        names = app_names or {config.name for config in apps.get_app_configs()}
        super().__init__(set(names) - UNUSED, *args, **kwargs)
