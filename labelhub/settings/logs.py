"""Settings of logs, error reports, traces and metrics; docs/observe.md explains them."""

from typing import Any

from django.core.exceptions import ImproperlyConfigured
from environ import Env

from labelhub.observe.log_lines import RENDERERS, configure_structlog
from labelhub.settings.checks import check_extra, check_networks

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
#: A token below this length could be guessed.
TOKEN_LENGTH = 20


def logging_config(env: Env, *, production: bool) -> dict[str, Any]:
    """Django's ``LOGGING``.

    Raises:
        ImproperlyConfigured: a variable has an unknown value.
    """
    form = env.str("LABELHUB_LOG_FORMAT", default="json" if production else "console").lower()
    level = env.str("LABELHUB_LOG_LEVEL", default="WARNING").upper()
    if form not in RENDERERS:
        raise ImproperlyConfigured(f"LABELHUB_LOG_FORMAT is json or console, not '{form}'.")
    if level not in LEVELS:
        raise ImproperlyConfigured(f"LABELHUB_LOG_LEVEL is one of {', '.join(LEVELS)}.")
    access = env.bool("LABELHUB_ACCESS_LOG", default=production)
    configure_structlog()
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"errors": {"()": "labelhub.observe.log_lines.error_filter"}},
        "formatters": {"line": {"()": "labelhub.observe.log_lines.formatter", "form": form}},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["console"], "level": "WARNING"},
        "loggers": {name: {"level": level} for name in ("apps", "labelhub")}
        | {
            "labelhub.access": {"level": "INFO" if access else "ERROR"},
            # Sign-ins, refusals and deletions, whatever the level of the others; beside a demo only
            # refusals and deletions.
            "labelhub.security": {"level": "INFO" if production else "WARNING"},
            # Django's own handlers would write errors once more, or by mail.
            "django": {"level": "WARNING", "handlers": [], "propagate": True},
            # The access line has each response, with its user; this one only what broke.
            "django.request": {"level": "ERROR", "filters": ["errors"]},
            "django.security.DisallowedHost": {"level": "CRITICAL"},
            # Without a collector: one line for each batch, not for each try.
            "opentelemetry": {"level": "ERROR"},
            # Two lines for each task.
            "celery.app.trace": {"level": "WARNING"},
            "celery.worker.strategy": {"level": "WARNING"},
            # These log a line for each call to a model.
            "httpx2": {"level": "WARNING"},
            "openai": {"level": "WARNING"},
        },
    }


def metrics_token(env: Env) -> str:
    """The token of those who may scrape; "" for none.

    Raises:
        ImproperlyConfigured: it is too short.
    """
    token: str = env.str("LABELHUB_METRICS_TOKEN", default="").strip()
    if token and len(token) < TOKEN_LENGTH:
        raise ImproperlyConfigured(
            f"LABELHUB_METRICS_TOKEN needs at least {TOKEN_LENGTH} characters."
        )
    return token


def metrics_networks(env: Env) -> list[str]:
    """Networks that may scrape without a token.

    Raises:
        ImproperlyConfigured: an entry is no network.
    """
    name = "LABELHUB_METRICS_NETWORKS"
    return check_networks(name, env.list(name, default=[]))


def metrics_listener(env: Env) -> tuple[str, int] | None:
    """Host and port at which a worker shows the metrics of its machine.

    Raises:
        ImproperlyConfigured: it is not HOST:PORT.
    """
    address = env.str("LABELHUB_WORKER_METRICS", default="").strip()
    if not address:
        return None
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise ImproperlyConfigured(
            "LABELHUB_WORKER_METRICS is HOST:PORT, such as 0.0.0.0:9108 or [::]:9108."
        )
    return host.strip("[]"), int(port)


def sentry_dsn(env: Env) -> str:
    """Where errors are reported; "" for nowhere.

    Raises:
        ImproperlyConfigured: the extra is not installed.
    """
    dsn: str = env.str("SENTRY_DSN", default="").strip()
    if dsn:
        check_extra("SENTRY_DSN", "sentry_sdk", "sentry")
    return dsn


def tracing_endpoint(env: Env) -> str:
    """Where traces are sent; "" for nowhere.

    Raises:
        ImproperlyConfigured: the extra is not installed, or another protocol is asked for.
    """
    endpoint: str = env.str("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", default="")
    endpoint = (endpoint or env.str("OTEL_EXPORTER_OTLP_ENDPOINT", default="")).strip()
    off = env.str("OTEL_SDK_DISABLED", default="").lower() == "true"
    if off or not endpoint or env.str("OTEL_TRACES_EXPORTER", default="otlp") == "none":
        return ""
    name = "OTEL_EXPORTER_OTLP_ENDPOINT, without OTEL_SDK_DISABLED=true,"
    check_extra(name, "opentelemetry.exporter.otlp.proto.http", "tracing")
    protocol = env.str("OTEL_EXPORTER_OTLP_PROTOCOL", default="http/protobuf")
    if protocol != "http/protobuf":
        raise ImproperlyConfigured(
            "OTEL_EXPORTER_OTLP_PROTOCOL: LabelHub sends http/protobuf only (port 4318 mostly)."
        )
    return endpoint
