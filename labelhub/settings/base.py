"""Settings of all environments; ``dev``, ``test`` and ``prod`` add little. docs/operators.md lists
the environment variables."""

import gc
import os
from typing import Any

import django_stubs_ext
from csp.constants import NONE, SELF
from kombu import Queue

from apps.common.queues import QUEUES
from labelhub import ROOT
from labelhub.settings.checks import (
    bucket,
    check_database_url,
    check_networks,
    check_queues,
    read_rate,
)
from labelhub.settings.console import UNFOLD  # noqa: F401 - read from here by name
from labelhub.settings.environment import (
    built,
    data_folder,
    make_private,
    plain_env,
    read_files,
)
from labelhub.settings.logs import (
    logging_config,
    metrics_listener,
    metrics_networks,
    metrics_token,
    sentry_dsn,
    tracing_endpoint,
)
from labelhub.settings.rest import SPECTACULAR_SETTINGS  # noqa: F401 - read from here by name
from labelhub.settings.sign_in import (
    SCIM_SERVICE_PROVIDER,  # noqa: F401 - read from here by name
    oidc_provider,
    required_two_step,
    saml_provider,
    scim_token,
)

# Our matrices are small: a second thread costs more than it saves. numpy reads this variable on its
# first import, after the settings.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Modules and models live as long as the process; collecting them again and again took a third of an
# import's time, and 7 % of the start.
gc.set_threshold(50_000, 20, 20)

# Allows annotations such as ``ModelAdmin[Item]`` in class statements.
django_stubs_ext.monkeypatch()

read_files(os.environ)
env = plain_env()

BASE_DIR = ROOT
DATA_DIR = make_private(data_folder())
# Incoming request bodies, and uploads while they are read.
SPOOL_DIR = make_private(DATA_DIR / "spool")

DEBUG = False
SECRET_KEY = env.str("LABELHUB_SECRET_KEY", default="")
# Former secret keys: who signed in under one of them stays signed in.
SECRET_KEY_FALLBACKS: list[str] = env.list("LABELHUB_SECRET_KEY_FALLBACKS", default=[])
ALLOWED_HOSTS: list[str] = env.list(
    "LABELHUB_ALLOWED_HOSTS", default=["127.0.0.1", "localhost", "[::1]"]
)
CSRF_TRUSTED_ORIGINS: list[str] = env.list("LABELHUB_TRUSTED_ORIGINS", default=[])
REDIS_URL = env.str("REDIS_URL", default="")
# The server (labelhub/server.py) takes the client's address from these proxies, also for allauth's
# limits. ALLAUTH_TRUSTED_PROXY_COUNT would trust X-Forwarded-For from anybody.
LABELHUB_TRUSTED_PROXIES = check_networks(
    "LABELHUB_TRUSTED_PROXIES", env.list("LABELHUB_TRUSTED_PROXIES", default=[])
)

INSTALLED_APPS = [
    "labelhub.apps.LabelhubConfig",
    # Before apps.accounts, which replaces their pages in the console.
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.usersessions",
    "apps.common",
    "apps.accounts",
    "apps.projects",
    "apps.labels",
    "apps.llm",
    "apps.debates",
    "apps.authors",
    "apps.reviews",
    "apps.learning",
    "apps.echo",
    "apps.agreement",
    "apps.exchange",
    "apps.dashboards",
    "unfold.apps.BasicAppConfig",
    "labelhub.apps.LabelhubAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "channels",
    "csp",
    "django_filters",
    "django_htmx",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "rest_framework",
    "template_partials",
]

MIDDLEWARE = [
    "apps.common.middleware.RequestMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "apps.common.middleware.LanguageMiddleware",
    "apps.common.middleware.SlashMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "apps.accounts.middleware.record_caller",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "apps.accounts.middleware.return_to_form",
    "apps.accounts.middleware.FirstStepMiddleware",
    "apps.accounts.middleware.note_session",
    "apps.common.middleware.LabelhubErrorMiddleware",
    "apps.common.api.middleware.RestAddressMiddleware",
]

ROOT_URLCONF = "labelhub.urls"
ASGI_APPLICATION = "labelhub.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LANGUAGE_CODE = "en"
# docs/developers.md says how to add one.
LANGUAGES = [("en", "English"), ("de", "German"), ("es", "Spanish")]
FORMAT_MODULE_PATH = "labelhub.formats"
LANGUAGE_COOKIE_NAME = "labelhub_language"
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_SAMESITE = "Lax"
# Compiled from locale/ when a process starts (apps/common/catalogues.py), or with the wheel.
LOCALE_PATHS = [built("locale", DATA_DIR / "locale")]
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]


def database(url: str) -> dict[str, Any]:
    """Connection settings for ``url``; SQLite is tuned for many short writers."""
    config: dict[str, Any] = env.db_url_config(url)
    config["CONN_MAX_AGE"] = None  # request threads are long-lived
    if config["ENGINE"].endswith("sqlite3"):
        config["ENGINE"] = "labelhub.sqlite"
        config["OPTIONS"] = {
            # Write transactions lock at BEGIN, so that they wait instead of failing midway.
            "transaction_mode": "IMMEDIATE",
            "timeout": 30,
            "init_command": (
                # Without a mapping or a larger cache, which each of 30 threads would have anew.
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY;"
                # What is deleted is overwritten; it would stay readable in free pages.
                "PRAGMA secure_delete=ON;"
            ),
        }
    else:
        config["CONN_HEALTH_CHECKS"] = True
        # Server-side cursors outlive transactions, for which PgBouncer lends its connections.
        config["DISABLE_SERVER_SIDE_CURSORS"] = env.bool("LABELHUB_PGBOUNCER", default=False)
        if size := env.int("LABELHUB_DATABASE_POOL", default=0):
            # Threads give their connection back after each request or task.
            config["CONN_MAX_AGE"] = 0
            pool = {"min_size": 1, "max_size": size, "timeout": 10}
            config["OPTIONS"] = {**config.get("OPTIONS", {}), "pool": pool}
    return config


DATABASES = {
    "default": database(
        check_database_url("DATABASE_URL", env.str("DATABASE_URL", default=""))
        or f"sqlite:///{DATA_DIR}/labelhub.sqlite3"
    )
}

CACHES: dict[str, Any] = {
    "default": {
        "BACKEND": "apps.common.redis_cache.RedisOrLocalCache",
        "LOCATION": REDIS_URL,
        # A Redis that hangs soon counts as away.
        "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 2},
    }
    if REDIS_URL
    else {"BACKEND": "apps.common.cache.LocalCache"}
}
CHANNEL_LAYERS: dict[str, Any] = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [REDIS_URL]},
    }
    if REDIS_URL
    else {"BACKEND": "channels.layers.InMemoryChannelLayer"}
}

CELERY_BROKER_URL = REDIS_URL or "memory://localhost/"
# The queues that a worker serves; docs/operators.md says what is in them.
LABELHUB_QUEUES = check_queues("LABELHUB_QUEUES", env.list("LABELHUB_QUEUES", default=list(QUEUES)))
CELERY_TASK_QUEUES = [Queue(name) for name in QUEUES]
CELERY_TASK_DEFAULT_QUEUE = QUEUES[0]
CELERY_TASK_ROUTES = ("apps.common.jobs.route_task",)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

STATIC_URL = "/static/"
STATIC_ROOT = built("collected", DATA_DIR / "static")
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "labelhub.web.static.UsedAppsFinder",
]
# A bucket for uploads and saved exports; otherwise they are in the data folder.
LABELHUB_FILES_URL = env.str("LABELHUB_FILES_URL", default="")
STORAGES: dict[str, Any] = {
    "default": bucket(LABELHUB_FILES_URL)
    if LABELHUB_FILES_URL
    else {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
PROMPTS_DIR = BASE_DIR / "prompts"
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
FILE_UPLOAD_TEMP_DIR = SPOOL_DIR
DATA_UPLOAD_MAX_NUMBER_FIELDS = 4000  # the form of a schema with 200 labels
# Limit of forms and JSON bodies, which are read into memory. Imports are files with their own limit
# (labelhub/web/bodies.py).
DATA_UPLOAD_MAX_MEMORY_SIZE = 16 * 1024 * 1024

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "start"
ACCOUNT_ADAPTER = "apps.accounts.adapter.ClosedSignupAdapter"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_RATE_LIMITS = {
    "login": "30/m/ip",
    "login_failed": "10/m/ip,5/5m/key",  # the key is name and address: see the adapter
    "reset_password": "10/m/ip,5/m/key",
}
# A class behind one address opens its link at the same time.
INVITATION_RATE_LIMITS = {"join": "120/m/ip", "mail": "30/h/user"}
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_LOGOUT_ON_GET = False

# The company's provider, see docs/sign-in.md.
LABELHUB_OIDC = oidc_provider(env)
LABELHUB_SAML = saml_provider(env)
# Only the provider, and passwords of operators.
LABELHUB_SSO_ONLY = env.bool("LABELHUB_SSO_ONLY", default=False)
# E-mail domains whose addresses the provider alone gives out.
LABELHUB_SSO_DOMAINS: list[str] = [
    domain.strip().lower() for domain in env.list("LABELHUB_SSO_DOMAINS", default=[])
]
LABELHUB_SSO_SESSION_HOURS = env.float("LABELHUB_SSO_SESSION_HOURS", default=12)
# Days after the last sign-in by the provider on which a person's API keys rest; 0: never.
LABELHUB_SSO_KEY_DAYS = env.int("LABELHUB_SSO_KEY_DAYS", default=0)
LABELHUB_SSO_GROUPS_CLAIM = env.str("LABELHUB_SSO_GROUPS_CLAIM", default="groups")
# Groups of the provider: who may sign in (empty: everybody), operate, and create accounts.
LABELHUB_SSO_ALLOWED_GROUPS: list[str] = env.list("LABELHUB_SSO_ALLOWED_GROUPS", default=[])
LABELHUB_SSO_OPERATORS: list[str] = env.list("LABELHUB_SSO_OPERATORS", default=[])
LABELHUB_SSO_ACCOUNT_CREATORS: list[str] = env.list("LABELHUB_SSO_ACCOUNT_CREATORS", default=[])
LABELHUB_SCIM_TOKEN = scim_token(env)
SOCIALACCOUNT_ADAPTER = "apps.accounts.adapter.ProviderAdapter"
SOCIALACCOUNT_REQUESTS_TIMEOUT = 5
# Starting at the provider costs a session; a company may be behind one address.
SSO_RATE_LIMITS = {"start": "300/m/ip"}

LABELHUB_REQUIRE_2FA = required_two_step(env)
# Whether that also holds for people who come from the provider, which has its own second step.
LABELHUB_REQUIRE_2FA_SSO = env.bool("LABELHUB_REQUIRE_2FA_SSO", default=False)
MFA_ADAPTER = "apps.accounts.adapter.TwoStepAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "LabelHub"
vars().update(env.email_url("LABELHUB_EMAIL_URL", default="consolemail://"))
# Notifications and invitations are sent by e-mail only where a server is named.
LABELHUB_SENDS_MAIL = bool(env.str("LABELHUB_EMAIL_URL", default=""))
EMAIL_TIMEOUT = 10
# This server's own address, for links in e-mails of workers, which have no request.
LABELHUB_URL = env.str("LABELHUB_URL", default=next(iter(CSRF_TRUSTED_ORIGINS), "")).rstrip("/")
DEFAULT_FROM_EMAIL = env.str("LABELHUB_EMAIL_FROM", default="labelhub@localhost")

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "apps.accounts.authentication.ApiKeyAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_THROTTLE_CLASSES": ["apps.common.api.throttle.CallerThrottle"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["apps.common.api.parsers.PlainJSONParser"],
    "DEFAULT_METADATA_CLASS": "apps.common.api.metadata.ViewMetadata",
    "DEFAULT_PAGINATION_CLASS": "apps.common.api.pagination.PageNumberPagination",
    "PAGE_SIZE": 50,
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "apps.common.api.openapi.OperationSchema",
    "EXCEPTION_HANDLER": "apps.common.api.errors.problem_response",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}

# Requests of one API key, or of one person in a session: 200 people may share a key and label an
# item every two seconds.
LABELHUB_API_RATE = read_rate("LABELHUB_API_RATE", env.str("LABELHUB_API_RATE", default="15000/m"))

# Keys for authors' texts: the first encrypts, all decrypt. Default: the secret key.
LABELHUB_TEXT_KEYS: list[str] = env.list("LABELHUB_TEXT_KEYS", default=[])

# Days that entries of the audit log are kept; 0: for ever.
LABELHUB_AUDIT_DAYS = env.int("LABELHUB_AUDIT_DAYS", default=730)
# Days after a run's end that its prompts and models' texts are kept; 0: for ever.
LABELHUB_TURN_DAYS = env.int("LABELHUB_TURN_DAYS", default=0)
# Days that the faults of an import's rows are kept; 0: for ever.
LABELHUB_LOG_DAYS = env.int("LABELHUB_LOG_DAYS", default=90)
# Days that saved exports are kept; 0: until newer ones replace them.
LABELHUB_EXPORT_DAYS = env.int("LABELHUB_EXPORT_DAYS", default=0)

# Saved exports per project; older files are deleted.
LABELHUB_SAVED_EXPORTS = env.int("LABELHUB_SAVED_EXPORTS", default=20)
# Allow webhooks to private networks and this machine.
LABELHUB_WEBHOOK_PRIVATE = env.bool("LABELHUB_WEBHOOK_PRIVATE", default=False)
LABELHUB_WEBHOOK_LOOPBACK = LABELHUB_WEBHOOK_PRIVATE

# The first provider; others are rows (see apps/llm).
LABELHUB_LLM_BASE_URL = env.str("LABELHUB_LLM_BASE_URL", default="")
LABELHUB_LLM_MODEL = env.str("LABELHUB_LLM_MODEL", default="")
# Further variables that a provider may name as its key, beside LABELHUB_LLM_* and *_API_KEY.
LABELHUB_LLM_KEY_VARIABLES: list[str] = env.list("LABELHUB_LLM_KEY_VARIABLES", default=[])
# Whether managers may add providers, with keys, to their projects; operators always may.
LABELHUB_PROJECT_PROVIDERS = env.bool("LABELHUB_PROJECT_PROVIDERS", default=True)
# Whether providers of projects may be on this machine or in a private network.
LABELHUB_LLM_PRIVATE = env.bool("LABELHUB_LLM_PRIVATE", default=False)
# Concurrent requests of a web process.
LABELHUB_HTTP_THREADS = env.int("LABELHUB_HTTP_THREADS", default=16)
# Concurrent runs of a worker process, in threads of their own.
LABELHUB_RUNS_AT_ONCE = env.int("LABELHUB_RUNS_AT_ONCE", default=6)
LABELHUB_ONE_PROCESSOR = env.bool("LABELHUB_ONE_PROCESSOR", default=True)
LABELHUB_EMBEDDED_WORKER = not REDIS_URL
#: Where there is Redis there may be more servers, and a balancer before them.
LABELHUB_DRAIN_SECONDS = env.float("LABELHUB_DRAIN_SECONDS", default=3.0 if REDIS_URL else 0.0)

LOGGING = logging_config(env, production=False)
LABELHUB_METRICS_TOKEN = metrics_token(env)
LABELHUB_METRICS_NETWORKS = metrics_networks(env)
LABELHUB_WORKER_METRICS = metrics_listener(env)
LABELHUB_TRACES_TO = tracing_endpoint(env)
SENTRY_DSN = sentry_dsn(env)
