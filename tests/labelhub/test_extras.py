"""What an installation without an optional part says where the part is needed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from environ import Env

from apps.common.charts import Chart
from apps.common.charts.files import chart_file
from apps.exchange.exporters import export_format
from apps.exchange.readers import parquet
from apps.exchange.readers.base import UnreadableFile
from labelhub.core import extras
from labelhub.core.extras import MissingExtra
from labelhub.settings import logs, sign_in
from labelhub.settings.checks import bucket, check_database_url

URL = "postgres://labelhub@localhost/labels"


def env(**variables: str) -> Env:
    """The reader of an environment with these variables."""
    return type("Reader", (Env,), {"ENVIRON": variables})()


@pytest.mark.parametrize(
    ("extra", "error", "use"),
    [
        ("parquet", MissingExtra, lambda: export_format("parquet")),
        ("parquet", MissingExtra, lambda: export_format("huggingface")),
        ("parquet", UnreadableFile, lambda: next(parquet.read(Path("items.parquet")))),
        ("png", MissingExtra, lambda: chart_file(Chart(key="", title="", rows=[]), "png")),
        ("postgres", ImproperlyConfigured, lambda: check_database_url("DATABASE_URL", URL)),
        ("s3", ImproperlyConfigured, lambda: bucket("s3://labels")),
        ("saml", ImproperlyConfigured,
         lambda: sign_in.saml_provider(env(LABELHUB_SAML_ENTITY_ID="urn:idp"))),
        ("scim", ImproperlyConfigured,
         lambda: sign_in.scim_token(env(LABELHUB_SCIM_TOKEN="t" * 32))),
        ("sentry", ImproperlyConfigured, lambda: logs.sentry_dsn(env(SENTRY_DSN="http://a@x/1"))),
        ("tracing", ImproperlyConfigured,
         lambda: logs.tracing_endpoint(env(OTEL_EXPORTER_OTLP_ENDPOINT="http://x"))),
    ],
)  # fmt: skip
def test_a_missing_part_is_named_at_its_use(
    monkeypatch: pytest.MonkeyPatch,
    extra: str,
    error: type[Exception],
    use: Callable[[], object],
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _module: None)
    with pytest.raises(error, match=rf"install it: labelhub\[{extra}\]"):
        use()
