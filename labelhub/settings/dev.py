"""Local development and the demo, with a generated secret in the data folder."""

from labelhub import IS_INSTALLED
from labelhub.settings.base import *  # noqa: F403 - settings modules build on base
from labelhub.settings.base import DATA_DIR, SECRET_KEY, STATIC_ROOT, STORAGES, env
from labelhub.settings.checks import load_secret

SECRET_KEY = SECRET_KEY or load_secret(DATA_DIR / "secret-key")
if not IS_INSTALLED:
    # Edited files are served as they are; the wheel has them collected.
    STORAGES |= {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    WHITENOISE_USE_FINDERS = True
    STATIC_ROOT.mkdir(exist_ok=True)  # empty, but whitenoise expects it
# To try webhooks with a local receiver, and models on this machine.
LABELHUB_WEBHOOK_LOOPBACK = True
LABELHUB_LLM_PRIVATE = env.bool("LABELHUB_LLM_PRIVATE", default=True)
