"""create_project and create_user."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.projects.models import Project
from apps.projects.selectors import current_guideline, current_schema, role_in
from tests.cases import all_cases
from tests.factories.accounts import UserFactory
from tests.factories.projects import ProjectFactory

pytestmark = pytest.mark.django_db


def run(*args: str) -> str:
    out = StringIO()
    call_command(*args, stdout=out)
    return out.getvalue()


def test_a_project_from_names() -> None:
    UserFactory.create(username="ada")
    made = json.loads(
        run(
            "create_project", "hotels", "--task", "multi", "--labels", "Food, Service",
            "--overlap", "2", "--manager", "ada", "--json",
        )
    )  # fmt: skip
    project = Project.objects.get(slug="hotels")
    assert made["slug"] == "hotels"
    assert current_schema(project).parsed.names == ("Food", "Service")
    assert (project.overlap, project.blind_share) == (2, 0.1)
    assert role_in(User.objects.get(), project) is Role.MANAGER


def test_a_project_from_files(tmp_path: Path) -> None:
    schema, guideline = tmp_path / "schema.json", tmp_path / "guide.md"
    definition = {"task": "single", "labels": ["good", {"name": "bad", "description": "ill"}]}
    schema.write_text(json.dumps(definition))
    guideline.write_text("\ufeffBe kind")
    output = run("create_project", "moods", "--schema", str(schema), "--guideline", str(guideline))
    project = Project.objects.get(slug="moods")
    assert "good, bad" in output
    assert current_schema(project).parsed.labels[1].description == "ill"
    text = current_guideline(project)
    assert text is not None
    assert text.text == "Be kind"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["taken", "--task", "text"], "already a project 'taken'"),
        (["new"], "--task"),
        (["new", "--task", "single"], "at least 2"),
        (["new", "--task", "single", "--labels", "a,a"], "given twice"),
        (["new", "--task", "text", "--labels", "a"], "none of its own"),
        (["new", "--task", "text", "--overlap", "0"], "overlap"),
        (["new", "--task", "text", "--manager", "eve"], "no user 'eve'"),
        (["new", "--schema", "absent.json"], "absent.json: cannot be read"),
        (["n w", "--task", "text"], "slug"),
    ],
)
def test_bad_input_is_one_clear_line(args: list[str], words: str) -> None:
    ProjectFactory.create(slug="taken")
    with pytest.raises(CommandError, match=words) as refused:
        run("create_project", *args)
    assert "\n" not in str(refused.value)
    assert Project.objects.count() == 1


@all_cases(
    ("content", "words"),
    [
        (b"{", "is not JSON"),
        (b"\xff\xfe", "is not UTF-8"),
        (b"[]", "must be a JSON object"),
        (b'{"task": "odd"}', "task: must be one of"),
        (b'{"task": "multi", "labels": [{}]}', "number 1, name"),
    ],
)
def test_a_bad_schema_file_is_named(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / "schema.json"
    file.write_bytes(content)
    with pytest.raises(CommandError, match=words):
        run("create_project", "new", "--schema", str(file))


def test_a_project_from_a_label_studio_configuration(tmp_path: Path) -> None:
    config = tmp_path / "config.xml"
    scales = "".join(f'<Rating name="{name}" toName="t" maxRating="3"/>' for name in "ab")
    config.write_text(f'<View><Text name="t" value="$text"/>{scales}</View>')
    with pytest.raises(CommandError, match="choose one"):
        run("create_project", "stars", "--schema", str(config))
    with pytest.raises(CommandError, match="asks for ordinal"):
        run("create_project", "stars", "--task", "text", "--schema", str(config), "--answer", "a")
    run("create_project", "stars", "--schema", str(config), "--answer", "a")
    assert current_schema(Project.objects.get()).parsed.names == ("1", "2", "3")


def test_an_account_with_a_place_in_a_project() -> None:
    project = ProjectFactory.create(slug="hotels")
    output = run(
        "create_user", "ada", "--email", "ada@example.org", "--project", "hotels",
        "--role", "viewer", "--kind", "expert",
    )  # fmt: skip
    user = User.objects.get()
    assert user.check_password(output.splitlines()[-1])
    assert role_in(user, project) is Role.VIEWER


def test_a_manager_made_by_an_operator_may_make_accounts() -> None:
    ProjectFactory.create(slug="hotels")
    for role in Role:
        run("create_user", role, "--project", "hotels", "--role", role)
    run("create_user", "root", "--superuser")
    allowed = [user.username for user in User.objects.order_by("pk") if user.makes_accounts]
    assert allowed == ["manager", "root"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["ada"], "username"),
        (["bob", "--project", "absent"], "no project 'absent'"),
        (["bob", "--role", "viewer"], "add --project"),
        (["bob", "--email", "nothing"], "email"),
    ],
)
def test_a_refused_account_leaves_nothing(args: list[str], words: str) -> None:
    UserFactory.create(username="ada")
    with pytest.raises(CommandError, match=words):
        run("create_user", *args)
    assert User.objects.count() == 1
