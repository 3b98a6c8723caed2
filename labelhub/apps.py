"""Start-up: load the Celery app, so that shared tasks bind to it, and compile translations."""

import gc

from django.apps import AppConfig
from django.conf import settings
from django.contrib.admin.apps import AdminConfig

from apps.common.catalogues import compile_catalogues
from labelhub.observe.error_reports import start_error_reports


class LabelhubConfig(AppConfig):
    name = "labelhub"

    def ready(self) -> None:
        """Compile translations before a text is shown, load the Celery app before any task is
        called, and tune the garbage collector."""
        # Modules and models live as long as the process; collecting them again and again took a
        # third of an import's time.
        gc.freeze()
        gc.set_threshold(50_000, 20, 20)
        from labelhub.celery import app  # noqa: PLC0415 - settings must be loaded first

        app.set_default()
        start_error_reports()
        compile_catalogues(settings.BASE_DIR / "locale", settings.DATA_DIR / "locale")


class LabelhubAdminConfig(AdminConfig):
    """The admin console, under this module's name in settings."""
