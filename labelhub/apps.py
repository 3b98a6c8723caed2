"""Start-up: load the Celery app, so that shared tasks bind to it, and compile translations."""

import gc

from django.apps import AppConfig
from django.conf import settings
from django.contrib.admin.apps import AdminConfig

from apps.common.catalogues import compile_catalogues
from labelhub import IS_INSTALLED
from labelhub.observe.error_reports import start_error_reports


class LabelhubConfig(AppConfig):
    name = "labelhub"

    def ready(self) -> None:
        """Compile translations before a text is shown, load the Celery app before any task is
        called, and keep what is loaded from the garbage collector."""
        gc.freeze()
        from labelhub.celery import app  # noqa: PLC0415 - settings must be loaded first

        app.set_default()
        start_error_reports()
        if not IS_INSTALLED:
            compile_catalogues(settings.BASE_DIR / "locale", settings.LOCALE_PATHS[0])


class LabelhubAdminConfig(AdminConfig):
    """The admin console with the site of :mod:`labelhub.console`."""

    default_site = "labelhub.console.Console"
