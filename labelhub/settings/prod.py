"""A server that others reach: refuses to start without its secret."""

from labelhub.settings.base import *  # noqa: F403 - settings modules build on base
from labelhub.settings.base import SECRET_KEY, env
from labelhub.settings.checks import check_secret

SECRET_KEY = check_secret(SECRET_KEY)
if not env.str("LABELHUB_EMAIL_URL", default=""):
    # Never to the console: a link that sets a new password does not belong into a log.
    EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.bool("LABELHUB_HTTPS", default=True)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_HSTS_SECONDS = 31_536_000 if SESSION_COOKIE_SECURE else 0
# Redirecting to TLS and speaking for other hosts of the domain are the proxy's to decide.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W008", "security.W021"]
