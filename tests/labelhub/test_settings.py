"""What settings make of the environment and the data folder."""

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from labelhub.settings.base import database
from labelhub.settings.checks import (
    SECRET_LENGTH,
    check_database_url,
    check_networks,
    check_queues,
    check_secret,
    load_secret,
)

ROOT = Path(__file__).resolve().parents[2]


def mode(path: Path) -> int:
    """Who may do what with it."""
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("secret", ["", "x" * (SECRET_LENGTH - 1)])
def test_production_needs_a_long_secret(secret: str) -> None:
    assert check_secret("x" * SECRET_LENGTH)
    with pytest.raises(ImproperlyConfigured, match="Set LABELHUB_SECRET_KEY to a random"):
        check_secret(secret)


def test_a_secret_is_made_once_and_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "secret-key"
    made = load_secret(path)
    assert len(made) >= SECRET_LENGTH
    assert load_secret(path) == made
    assert mode(path) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_of_many_that_start_at_once_all_have_the_same_secret(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(load_secret, [tmp_path / "secret-key"] * 32))
    assert len(made) == 1
    assert "" not in made


def test_an_empty_secret_file_that_was_left_behind_is_filled(tmp_path: Path) -> None:
    path = tmp_path / "secret-key"
    path.touch()
    assert len(load_secret(path)) >= SECRET_LENGTH


@pytest.mark.thorough
def test_a_new_data_folder_is_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    ours = {"DJANGO_SETTINGS_MODULE": "labelhub.settings.dev", "LABELHUB_DATA_DIR": str(folder)}
    services = ("DATABASE_URL", "REDIS_URL")
    env = {name: value for name, value in os.environ.items() if name not in services} | ours
    subprocess.run(
        [sys.executable, "manage.py", "demo", "--no-serve"],
        cwd=ROOT,
        env=env,
        capture_output=True,
        check=True,
        umask=0o022,
    )
    assert mode(folder) == mode(folder / "spool") == 0o700
    assert mode(folder / "labelhub.sqlite3") == mode(folder / "secret-key") == 0o600


@pytest.mark.parametrize("target", ["serve", "worker"])
@pytest.mark.parametrize("secret", ["", "short"])
def test_make_says_in_one_line_that_the_secret_is_missing(target: str, secret: str) -> None:
    env = {**os.environ, "LABELHUB_SECRET_KEY": secret, "REDIS_URL": "redis://127.0.0.1:1"}
    del env["DJANGO_SETTINGS_MODULE"]
    command = ["make", "-o", "install", target]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, check=False)
    lines = [line for line in done.stderr.decode().splitlines() if not line.startswith("make")]
    assert done.returncode != 0
    assert len(lines) == 1
    assert "Set LABELHUB_SECRET_KEY" in lines[0]


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "mysql://root:secret@localhost/labels",
        "postgres//root:secret@localhost/x",
        "postgres://root:se/cret@localhost/x",
        "postgres://root:secret@localhost:54a/x",
        "prometheus_sqlite:///x",
    ],
)
def test_a_database_of_another_kind_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL is neither") as refused:
        check_database_url("DATABASE_URL", url)
    assert "cret" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "postgres://labelhub@localhost:5432/labels?sslmode=require",
        "POSTGRESQL:///labels?host=/var/run/postgresql",
        "postgres://labelhub:%2F%40@db/labels",
        "sqlite:////data/labels.sqlite3",
        "sqlite://:memory:",
    ],
)
def test_databases_that_work_are_taken_as_they_are(url: str) -> None:
    assert check_database_url("DATABASE_URL", url) == url


@pytest.mark.thorough
def test_an_empty_variable_is_none() -> None:
    """Files of variables often have the name with nothing behind it."""
    done = subprocess.run(
        [sys.executable, "-c", "from labelhub.settings import test; print(test.DATABASES)"],
        env={**os.environ, "DATABASE_URL": "", "REDIS_URL": ""},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "labelhub.sqlite" in done.stdout


def test_proxies_are_addresses_and_networks() -> None:
    assert check_networks("X", ["10.0.0.9", " 10.1.0.0/16 ", "::1", ""]) == [
        "10.0.0.9",
        "10.1.0.0/16",
        "::1",
    ]


@pytest.mark.parametrize("entry", ["*", "proxy.example.org", "10.0.0.300"])
def test_what_is_no_address_is_refused_by_name(entry: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"LABELHUB_TRUSTED_PROXIES: '.*' is neither"):
        check_networks("LABELHUB_TRUSTED_PROXIES", ["10.0.0.9", entry])


def test_the_files_of_a_browsable_api_that_we_do_not_have_are_not_served() -> None:
    served = {name for finder in finders.get_finders() for name, _ in finder.list([])}
    assert not [name for name in served if name.startswith("rest_framework/")]
    assert finders.find("rest_framework/css/bootstrap.min.css") is None
    assert {"admin/css/base.css", "css/tokens.css"} <= served


@pytest.mark.thorough
@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/", "/api/docs/", "/accounts/login/", "/admin/login/"])
def test_no_page_asks_for_them(client: Client, address: str) -> None:
    assert b"rest_framework/" not in client.get(address, follow=True).content


def test_a_queue_that_does_not_exist_is_refused() -> None:
    assert check_queues("LABELHUB_QUEUES", ["runs", "heavy"]) == ["runs", "heavy"]
    for wrong in ([], ["celery"], ["runs", ""]):
        with pytest.raises(ImproperlyConfigured, match="interactive, runs, heavy"):
            check_queues("LABELHUB_QUEUES", wrong)


def test_a_pool_of_connections_gives_them_back_after_each_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address = "postgres://user@127.0.0.1/labels"
    assert database(address)["CONN_MAX_AGE"] is None
    monkeypatch.setenv("LABELHUB_DATABASE_POOL", "12")
    monkeypatch.setenv("LABELHUB_PGBOUNCER", "1")
    config = database(address)
    assert (config["CONN_MAX_AGE"], config["OPTIONS"]["pool"]["max_size"]) == (0, 12)
    assert config["DISABLE_SERVER_SIDE_CURSORS"]
    assert "pool" not in database("sqlite:///x")["OPTIONS"]
