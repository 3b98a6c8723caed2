"""The picture of a study to take away, and what is said of a study that is finished."""

import csv
import html
import io

import pytest
from django.urls import reverse

from apps.accounts.roles import Role
from apps.agreement.models import Study
from apps.projects.models import Project
from tests.agreement.predictivity_help import (
    authors_project,
    decides,
    driven,
    last_shown,
    signed_in,
    started,
)
from tests.factories.debates import Script

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sent_studies")]


def file_at(project: Project, form: str) -> str:
    return reverse("predictivity_figure", args=[project.slug, form])


@pytest.mark.thorough
def test_the_picture_is_an_svg_that_needs_nothing_else() -> None:
    project = authors_project(users=6)
    study = started(project)
    driven(study, decides(last_shown))
    got = signed_in(project, Role.VIEWER).get(file_at(project, "svg"))
    assert (got.status_code, got.headers["Content-Type"]) == (200, "image/svg+xml")
    name = f"{project.slug}-predictivity-study-{study.pk}.svg"
    assert name in got.headers["Content-Disposition"]
    words = html.unescape(got.content.decode())
    assert "Accuracy by number of examples" in words
    assert "Guessing, 33%" in words
    assert "Author" in words
    assert b"var(--" not in got.content


@pytest.mark.thorough
def test_the_picture_is_a_png_and_its_data_a_csv() -> None:
    project = authors_project(users=6)
    # Right for one author more often than for another, whichever examples are drawn for them.
    driven(started(project), decides(lambda _: "calm"))
    client = signed_in(project, Role.VIEWER)
    assert client.get(file_at(project, "png")).content.startswith(b"\x89PNG")
    text = client.get(file_at(project, "csv")).content.decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    sources = {row["source"] for row in rows}
    assert {"Author", "Crowd", "No examples"} <= sources
    (own,) = [row for row in rows if (row["source"], row["examples"]) == ("Author", "1")]
    assert 0 <= float(own["low"]) <= float(own["value"]) <= float(own["high"]) <= 1
    assert (own["predictions"], own["authors"]) == ("24", "6")


@pytest.mark.thorough
def test_of_several_studies_the_one_asked_for_is_drawn() -> None:
    project = authors_project(users=6)
    first = started(project)
    driven(first, decides(last_shown))
    started(project, examples=(1,))
    client = signed_in(project, Role.VIEWER)
    assert client.get(file_at(project, "csv")).status_code == 404  # the newest has nothing yet
    assert client.get(file_at(project, "csv"), {"study": first.pk}).status_code == 200


@pytest.mark.thorough
@pytest.mark.parametrize("form", ["pdf", "svg"])
def test_what_is_not_there_is_not_found(form: str) -> None:
    project = authors_project(users=6)
    if form == "pdf":
        driven(started(project), decides(last_shown))
    assert signed_in(project, Role.VIEWER).get(file_at(project, form)).status_code == 404


@pytest.mark.thorough
def test_a_finished_study_started_again_is_called_finished() -> None:
    project = authors_project(users=6)
    study = started(project)
    driven(study, Script("Final Decision: calm"))
    study.refresh_from_db()
    assert study.status == Study.Status.DONE
    client = signed_in(project, Role.MANAGER)
    plan = {
        "model": str(study.model_id), "sources": study.sources, "examples": study.examples,
        "limit": "", "budget": "",
    }  # fmt: skip
    preview = client.get(reverse("predictivity_preview", args=[project.slug]), plan)
    assert f"Study {study.pk} of the same plan is finished: nothing is left to ask." in (
        preview.content.decode()
    )
    page = client.post(reverse("predictivity", args=[project.slug]), plan, follow=True)
    assert f"Study {study.pk} is finished already" in page.content.decode()
    assert "is under way" not in page.content.decode()
