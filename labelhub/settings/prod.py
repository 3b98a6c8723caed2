"""Production; refuses to start without its secret."""

from labelhub.settings.base import *  # noqa: F403 - settings modules build on base
from labelhub.settings.base import SECRET_KEY, env
from labelhub.settings.checks import check_secret
from labelhub.settings.logs import logging_config

SECRET_KEY = check_secret(SECRET_KEY)
LOGGING = logging_config(env, production=True)
if not env.str("LABELHUB_EMAIL_URL", default=""):
    # Not to the console: links to set a password must not be logged.
    EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.bool("LABELHUB_HTTPS", default=True)
LANGUAGE_COOKIE_SECURE = SESSION_COOKIE_SECURE
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_HSTS_SECONDS = 31_536_000 if SESSION_COOKIE_SECURE else 0
# The proxy decides on redirects to TLS and on HSTS for subdomains.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W008", "security.W021"]
