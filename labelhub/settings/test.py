"""Tests: fast hashing, no network, a temporary data folder."""

import os
import tempfile
from urllib.parse import urlsplit

os.environ.setdefault("LABELHUB_DATA_DIR", tempfile.mkdtemp(prefix="labelhub-test-"))

from labelhub.settings.base import *  # noqa: F403 - the folder must be set first

SECRET_KEY = "only-for-tests"  # noqa: S105 - guards nothing
LABELHUB_SCIM_TOKEN = "of-the-directory-of-the-tests-0123"  # noqa: S105 - the same; addresses need it
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
STORAGES |= {  # noqa: F405
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
# A file, as threads cannot share an in-memory database as in production.
DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}  # noqa: F405

if REDIS_URL:  # noqa: F405
    # Test processes share the Redis server, but neither caches nor channels.
    _process = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) + 1
    CACHES["default"]["LOCATION"] = urlsplit(REDIS_URL)._replace(path=f"/{_process}").geturl()  # noqa: F405
    CHANNEL_LAYERS["default"]["CONFIG"]["prefix"] = f"test{_process}"  # noqa: F405
