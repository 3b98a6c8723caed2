"""Comments beside an item and as a list, as a browser gets them."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.projects.models import Item, Project
from apps.reviews.models import Comment, Mention
from tests.factories.labels import queued_items
from tests.factories.projects import member
from tests.factories.reviews import expert, new_project, reviewer
from tests.reviews.test_comments import HOSTILE, say

pytestmark = pytest.mark.django_db
PROJECT = {"overlap": 2}
HTMX = {"HX-Request": "true"}


@pytest.fixture
def manager(project: Project, client: Client) -> User:
    """A manager who is signed in."""
    user = member(project, Role.MANAGER)
    client.force_login(user)
    return user


def thread_of(item: Item) -> str:
    return reverse("item_comments", args=[item.project.slug, item.pk])


@pytest.mark.usefixtures("manager")
def test_a_comment_shows_at_once(client: Client, item: Item) -> None:
    response = client.post(thread_of(item), {"text": HOSTILE + " @nobody"}, headers=HTMX)

    html = response.content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "<script>" not in html
    assert "Nobody in this project is called @nobody" in html
    page = client.get(reverse("item_detail", args=[item.project.slug, item.pk])).content.decode()
    assert "&lt;script&gt;" in page


@pytest.mark.usefixtures("manager")
def test_the_review_screen_sends_it_by_itself(client: Client, item: Item) -> None:
    json_wanted = {"Accept": "application/json"}

    sent, empty = (
        client.post(thread_of(item), {"text": text}, headers=json_wanted) for text in ("Odd.", " ")
    )

    assert (sent.status_code, sent.json()) == (200, {"message": "Sent."})
    assert empty.status_code == 422
    assert Comment.objects.get().text == "Odd."


@pytest.mark.usefixtures("manager")
def test_without_scripts_it_goes_back_to_the_item(client: Client, item: Item) -> None:
    response = client.post(thread_of(item), {"text": "Odd."})

    assert response.headers["Location"] == reverse("item_detail", args=[item.project.slug, item.pk])
    refused = client.post(thread_of(item), {"text": " "}, follow=True)
    assert "write something first" in refused.content.decode()


def test_who_has_not_answered_learns_how_many_there_are(client: Client, item: Item) -> None:
    person = reviewer(item.project)
    say(item, reviewer(item.project), f"Surely good, @{person.username}")
    client.force_login(person)

    for address in (thread_of(item), reverse("item_detail", args=[item.project.slug, item.pk])):
        html = client.get(address).content.decode()
        assert "1 comment, visible once you have answered" in html
        assert "Surely" not in html
    listed = client.get(reverse("comment_list", args=[item.project.slug]), {"shown": "mentions"})
    assert "Surely" not in listed.content.decode()


def test_an_explanation_reaches_whom_it_is_for(client: Client, item: Item) -> None:
    project, person = item.project, reviewer(item.project)
    say(item, expert(project), "Irony is what is meant.", explains=True, to=[person.pk])
    client.force_login(person)
    listed = reverse("comment_list", args=[project.slug])

    html = client.get(listed, {"shown": "mentions"}).content.decode()
    assert "Irony is what is meant." in html
    assert "data-unread" in html

    client.post(reverse("comments_seen", args=[project.slug]), {"item": str(item.pk)}, headers=HTMX)
    assert Mention.objects.get().seen_at is not None
    assert "data-unread" not in client.get(listed).content.decode()


@pytest.mark.usefixtures("manager")
def test_comments_of_other_projects_are_not_found(client: Client, project: Project) -> None:
    foreign = queued_items(new_project(), 1)[0]
    comment = say(foreign, reviewer(foreign.project), "Secret")

    address = reverse("item_comments", args=[project.slug, foreign.pk])
    assert client.get(address).status_code == 404
    assert client.post(address, {"text": "Hello"}).status_code == 404
    resolve = reverse("comment_resolve", args=[project.slug, comment.pk])
    assert client.post(resolve).status_code == 404
    assert "Secret" not in client.get(reverse("comment_list", args=[project.slug])).content.decode()
    assert Comment.objects.count() == 1


@pytest.mark.usefixtures("manager")
def test_the_list_takes_no_more_queries_for_more(
    client: Client, item: Item, django_assert_max_num_queries: Any
) -> None:
    for n in range(12):
        say(item, reviewer(item.project), f"Remark {n}", explains=True)

    # session, person, bell, project; count, rows, mentions; frame
    with django_assert_max_num_queries(9):
        html = client.get(reverse("comment_list", args=[item.project.slug])).content.decode()
    assert html.count('comment-row"') == 12
