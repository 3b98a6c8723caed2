"""Where files are, values that lie in files, and the settings of each command."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from labelhub import ROOT
from labelhub.__main__ import DEMO, PRODUCTION, settings_for
from labelhub.settings import environment
from labelhub.settings.environment import data_folder, make_private, plain_env, read_files


def test_values_that_lie_in_files_are_read_without_their_last_line_break(tmp_path: Path) -> None:
    file = tmp_path / "value"
    file.write_text("from the file\n")
    environ = {
        "LABELHUB_SECRET_KEY_FILE": str(file),
        "DATABASE_URL_FILE": str(file),
        "SENTRY_DSN_FILE": str(file),
        "REDIS_URL": "kept",
        "REDIS_URL_FILE": str(file),
        "LABELHUB_TEXT_KEYS_FILE": "",
        "SSL_CERT_FILE": str(file),
    }
    read_files(environ)
    found = {name: value for name, value in environ.items() if not name.endswith("_FILE")}
    assert found == {
        "LABELHUB_SECRET_KEY": "from the file",
        "DATABASE_URL": "from the file",
        "SENTRY_DSN": "from the file",
        "REDIS_URL": "kept",
    }


def test_a_missing_file_is_named_with_its_variable(tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"LABELHUB_SECRET_KEY_FILE: cannot read /.*/no"):
        read_files({"LABELHUB_SECRET_KEY_FILE": str(tmp_path / "no")})


def test_a_dollar_sign_in_a_secret_is_a_character(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = r"$HOME is \$5 or $"
    monkeypatch.setenv("LABELHUB_TEXT_KEYS", f"{secret},$b")
    assert plain_env().str("LABELHUB_TEXT_KEYS", default="") == f"{secret},$b"
    assert plain_env().list("LABELHUB_TEXT_KEYS", default=[]) == [secret, "$b"]
    assert plain_env().str("LABELHUB_NOT_SET", default="as given") == "as given"


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ImproperlyConfigured, match=r"Cannot make the data folder .*LABELHUB_DATA"):
        make_private(tmp_path / "file" / "data")


def test_the_data_folder_of_an_installed_labelhub_does_not_depend_on_where_it_is_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("LABELHUB_DATA_DIR")
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert data_folder() == ROOT / "var"
    monkeypatch.setattr(environment, "IS_INSTALLED", True)
    assert data_folder() == tmp_path / ".local/share/labelhub"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    assert data_folder() == tmp_path / "share/labelhub"
    monkeypatch.setenv("LABELHUB_DATA_DIR", str(tmp_path / "given"))
    assert data_folder() == tmp_path / "given"


@pytest.mark.parametrize(
    ("command", "after_a_demo", "variable", "settings"),
    [
        ("demo", False, "", DEMO),
        ("demo", True, "LABELHUB_SECRET_KEY", DEMO),
        ("serve", True, "", PRODUCTION),
        ("worker", True, "", PRODUCTION),
        ("export_labels", True, "", DEMO),
        ("export_labels", False, "", PRODUCTION),
        ("export_labels", True, "LABELHUB_SECRET_KEY", PRODUCTION),
        ("export_labels", True, "LABELHUB_SECRET_KEY_FILE", PRODUCTION),
    ],
)
def test_the_secret_of_a_demo_serves_the_demo_alone(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    command: str,
    after_a_demo: bool,
    variable: str,
    settings: str,
) -> None:
    monkeypatch.setenv("LABELHUB_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("LABELHUB_SECRET_KEY", raising=False)
    if variable:
        monkeypatch.setenv(variable, "x")
    if after_a_demo:
        (tmp_path / "secret-key").touch()
    assert settings_for(command) == settings
