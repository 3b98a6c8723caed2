"""The list of what waits and the desk of one item, as a browser gets them."""

import json
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.labels.models import Gold, ItemState, Label
from apps.projects.models import Item, Project
from apps.reviews.models import Decision, Slot
from labelhub.core.schema.operations import Rename, Retire
from tests.factories.projects import GuidelineFactory
from tests.factories.reviews import expert, new_project, reviewer, suggest
from tests.factories.schema_changes import changed
from tests.reviews.test_adjudication import in_conflict, rule, state_of
from tests.reviews.test_comments import HOSTILE, say
from tests.reviews.test_work_while_labels_change import MORE

pytestmark = pytest.mark.django_db
PROJECT = {"overlap": 2}


@pytest.fixture
def judge(project: Project, client: Client) -> User:
    """An expert who is signed in."""
    user = expert(project)
    client.force_login(user)
    return user


def at(name: str, item: Item | Project, *more: Any) -> str:
    if isinstance(item, Project):
        return reverse(name, args=[item.slug, *more])
    return reverse(name, args=[item.project.slug, item.pk, *more])


def test_the_list_shows_who_is_against_whom(
    client: Client, project: Project, judge: User, django_assert_max_num_queries: Any
) -> None:
    people = [reviewer(project), reviewer(project)]
    item = in_conflict(project, *people)
    for _ in range(4):
        in_conflict(project)
    say(item, people[0], "Is it irony?")

    with django_assert_max_num_queries(
        16
    ):  # session, person, project; docket; a page's rows; frame
        response = client.get(at("adjudication", project))

    html = response.content.decode()
    assert "<strong>5</strong> items wait" in html
    assert "bad / good (5)" in html
    assert all(person.username in html for person in people)
    assert 'data-key="Enter"' in html
    narrowed = client.get(at("adjudication", project), {"by": "0", "age": "x", "between": "y"})
    assert narrowed.status_code == 200
    nothing = client.get(at("adjudication", project), {"against": "x / y"}).content.decode()
    assert "No item matches the filter" in nothing


def test_the_desk_shows_every_opinion(
    client: Client, project: Project, judge: User, django_assert_max_num_queries: Any
) -> None:
    item = in_conflict(project)
    suggest(item, "bad", evidence={"bad": ["food was"]})
    GuidelineFactory.create(project=project, text="Irony is what is meant.")

    with django_assert_max_num_queries(32):
        html = client.get(at("adjudication_item", item)).content.decode()

    for words in ("Irony is what is meant.", "Because the text says so.", "Text matcher (demo)"):
        assert words in html
    assert '<mark class="quote" data-label="o' in html
    assert 'value="[&quot;bad&quot;, &quot;food was&quot;]"' in html
    assert Slot.objects.live(timezone.now()).get().holder == judge


def test_people_who_judge_their_own_label_read_that_they_do(
    client: Client, project: Project, judge: User
) -> None:
    mine, others = in_conflict(project, reviewer(project), judge), in_conflict(project)
    words = "You are one of the annotators"

    assert words in client.get(at("adjudication_item", mine)).content.decode()
    assert words not in client.get(at("adjudication_item", others)).content.decode()
    html = client.get(at("adjudication", project)).content.decode()
    assert html.count(words) == 1
    assert html.index(at("adjudication_item", others)) < html.index(at("adjudication_item", mine))


@pytest.mark.usefixtures("judge")
def test_machines_are_not_counted_as_people(client: Client, project: Project) -> None:
    item = in_conflict(project)
    suggest(item, "bad")

    html = " ".join(client.get(at("adjudication_item", item)).content.decode().split())

    label = html[html.index('data-name="bad"') :]
    label = label[: label.index("</label>")]
    assert 'title="LLM"' in label
    assert 'title="Crowd"' in label
    assert "annotator" not in label


def test_a_decision_goes_on_to_the_next(client: Client, project: Project, judge: User) -> None:
    item, other = in_conflict(project), in_conflict(project)
    client.get(at("adjudication_item", item))
    slot = Slot.objects.live(timezone.now()).get()

    response = client.post(
        at("adjudication_decide", item) + "?between=people",
        {
            "value": "bad",
            "rationale": "Irony.",
            "quote": [json.dumps(["", "the food"]), json.dumps(["bad", "the food"])],
            "explain": "Irony is what is meant.",
            "seconds": "8.5",
            "lease": str(slot.lease_token),
        },
    )

    assert response.headers["Location"] == at("adjudication_item", other) + "?between=people"
    label = Label.objects.current().get(annotator__user=judge)
    assert (label.evidence, label.seconds) == ({"bad": ["the food"]}, 8.5)
    assert not Decision.objects.get(label=label).late
    page = client.get(response.headers["Location"]).content.decode()
    assert "Decided: bad. Explained to 1 person." in page
    assert at("adjudication_undo", project) in page


@pytest.mark.thorough
@pytest.mark.parametrize(
    "sent",
    [{}, {"value": "ugly"}, {"value": "bad", "quote": "x"}, {"value": "bad", "quote": "[1, 2]"}],
)
@pytest.mark.usefixtures("judge")
def test_what_cannot_be_used_comes_back_as_written(
    client: Client, project: Project, sent: dict[str, str]
) -> None:
    item = in_conflict(project)

    response = client.post(at("adjudication_decide", item), {**sent, "rationale": HOSTILE})

    assert response.status_code == 422
    html = response.content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "<script>alert(1)" not in html
    assert state_of(item).stage == ItemState.Stage.CONFLICT


@pytest.mark.usefixtures("judge")
def test_a_decision_means_the_labels_that_were_on_the_page(
    client: Client, project: Project
) -> None:
    item, other = in_conflict(project), in_conflict(project)
    html = client.get(at("adjudication_item", item)).content.decode()
    (version,) = re.findall(r'name="schema" value="(\d+)"', html)
    changed(project, Rename("good", "bad"), Rename("bad", "good"))

    quotes = [json.dumps(["good", "the food"]), json.dumps(["", "was"])]
    sent = {"value": "good", "schema": version, "quote": quotes}
    client.post(at("adjudication_decide", item), sent)

    label = Label.objects.current().get(item=item, annotator__kind="expert")
    assert (label.value, label.evidence) == ("bad", {"bad": ["the food", "was"]})
    changed(project, Retire("good"), Rename("bad", "poor"), MORE)
    sent = {"value": "bad", "schema": version, "rationale": "It is irony."}
    page = client.post(at("adjudication_decide", other), sent, follow=True).content.decode()
    assert "no longer waits" in page
    assert "to copy: It is irony." in page
    assert not Label.objects.filter(item=other, annotator__kind="expert").exists()


@pytest.mark.usefixtures("judge")
def test_nobody_can_tell_whatever_was_chosen(client: Client, project: Project) -> None:
    item, other = in_conflict(project), in_conflict(project)
    sent = {"abstain": "1", "value": "bad", "none": "1", "rationale": "Two readings.",
            "quote": json.dumps(["good", "the food"]), "explain": "Nobody can."}  # fmt: skip

    response = client.post(at("adjudication_decide", item), sent)

    assert response.headers["Location"] == at("adjudication_item", other)
    assert state_of(item).stage == ItemState.Stage.UNCLEAR
    label = Label.objects.current().get(annotator__kind="expert")
    assert (label.value, label.evidence) == (None, {"good": ["the food"]})
    page = client.get(response.headers["Location"]).content.decode()
    assert "Decided: unsure. Explained to 2 people." in page
    again = client.post(at("adjudication_undo", project), follow=True).content.decode()
    assert "Two readings.</textarea>" in again


def test_an_item_is_left_to_others_and_taken_back(
    client: Client, project: Project, judge: User
) -> None:
    item = in_conflict(project)

    response = client.post(at("adjudication_skip", item))
    assert response.headers["Location"] == at("adjudication", project)
    assert "you skipped it" in client.get(at("adjudication", project)).content.decode()

    response = client.post(at("adjudication_undo", project))
    assert response.headers["Location"] == at("adjudication_item", item)
    response = client.post(at("adjudication_undo", project), follow=True)
    assert "You have no decision to undo" in response.content.decode()


def test_what_was_said_is_on_the_desk_again_after_undo(
    client: Client, project: Project, judge: User
) -> None:
    item, other = in_conflict(project), in_conflict(project)
    rule(item, judge, "good", rationale="It is <irony>.")

    page = client.post(at("adjudication_undo", project), follow=True).content.decode()

    assert "It is &lt;irony&gt;.</textarea>" in page
    assert 'name="value" value="good" checked' in " ".join(page.split())
    again = Decision.objects.get(item=item, undone_at__isnull=False).pk
    for item_id, key in ((other.pk, again), (item.pk, "x"), (item.pk, 2**70)):
        address = reverse("adjudication_item", args=[project.slug, item_id])
        assert "irony" not in client.get(address, {"again": key}).content.decode()


@pytest.mark.usefixtures("judge")
def test_an_item_is_sent_back_with_a_reason(client: Client, project: Project) -> None:
    people = [reviewer(project), reviewer(project)]
    item = in_conflict(project, *people)

    assert client.post(at("adjudication_return", item), {"reason": ""}).status_code == 422
    page = client.post(at("adjudication_return", item), {"reason": "The end!"}, follow=True)

    assert "Sent back to" in page.content.decode()
    assert state_of(item).audience == ItemState.Audience.NAMED
    again = client.post(at("adjudication_return", item), {"reason": "The end!"}, follow=True)
    assert "no longer waits" in again.content.decode()


@pytest.mark.usefixtures("judge")
def test_items_of_other_projects_are_not_found(client: Client, project: Project) -> None:
    foreign = in_conflict(new_project(overlap=2))

    for name in ("adjudication_item", "adjudication_debates"):
        assert client.get(reverse(name, args=[project.slug, foreign.pk])).status_code == 404
    for name in ("adjudication_decide", "adjudication_return", "adjudication_skip"):
        address = reverse(name, args=[project.slug, foreign.pk])
        response = client.post(address, {"value": "bad", "reason": "x"})
        assert response.status_code in (302, 404)
    assert state_of(foreign).stage == ItemState.Stage.CONFLICT
    assert not Decision.objects.filter(item=foreign, action="skip").exists()


@pytest.mark.usefixtures("judge")
def test_words_for_what_somebody_else_decided_are_not_lost(
    client: Client, project: Project
) -> None:
    item = in_conflict(project)
    rule(item, expert(project), "bad")

    sent = {"value": "good", "rationale": "It is <irony>.", "explain": "See rule 3."}
    response = client.post(at("adjudication_decide", item), sent, follow=True)

    html = response.content.decode()
    assert "to copy: It is &lt;irony&gt;. See rule 3." in html
    assert Gold.objects.current().get().value == "bad"
