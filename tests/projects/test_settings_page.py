"""/p/<slug>/settings/, and deleting a project with all that is in it."""

import pytest
from django.test import Client

from apps.accounts.roles import Role
from apps.debates.models import Debate, Run
from apps.labels.models import Gold, Label
from apps.labels.services import record_label
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from apps.projects.services import delete_project
from tests.cases import all_cases
from tests.factories.labels import draft, open_item, person
from tests.factories.projects import GuidelineFactory, ProjectFactory, member

pytestmark = pytest.mark.django_db
URL = "/p/hotels/settings/"


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create(slug="hotels", name="Hotels")


@pytest.fixture
def manager(client: Client, project: Project) -> Client:
    client.force_login(member(project, Role.MANAGER))
    return client


def test_name_and_description_change(manager: Client, project: Project) -> None:
    response = manager.post(URL, {"name": "Inns", "description": "Small ones"}, follow=True)
    assert "The settings are saved" in response.content.decode()
    project.refresh_from_db()
    assert (project.name, project.description, project.slug) == ("Inns", "Small ones", "hotels")


def test_the_typed_short_name_deletes(manager: Client) -> None:
    response = manager.post(f"{URL}delete/", {"typed": "hotels"})
    assert response["Location"] == "/"
    assert not Project.objects.exists()


@all_cases("typed", ["", "Hotels", "hotel"])
def test_anything_else_does_not(manager: Client, typed: str) -> None:
    assert manager.post(f"{URL}delete/", {"typed": typed}).status_code == 422
    assert Project.objects.exists()


def test_a_project_goes_with_its_runs_labels_and_gold(project: Project) -> None:
    item = open_item(project)
    record_label(draft(item, person(project), "good", action=Label.Action.NEW))
    guideline = GuidelineFactory.create(project=project)
    run = Run.objects.create(
        project=project, protocol="single", schema=current_schema(project), guideline=guideline
    )
    Debate.objects.create(run=run, item=item, label=Label.objects.first())
    delete_project(project=project, actor=None)
    assert not any(model.objects.exists() for model in (Item, Label, Gold, Run))
