"""Comments: written, meant for somebody, seen, resolved; and who may read them when."""

from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.projects.models import Item, Project
from apps.reviews.comments.selectors import (
    comment_rows,
    complete_names,
    get_comment,
    thread_on,
    unread_mentions,
)
from apps.reviews.comments.services import (
    add_remark,
    find_mentions,
    mark_mentions,
    resolve_comment,
    see_mentions,
    write_comment,
)
from apps.reviews.models import Comment, Mention, ReviewSettings
from labelhub.core.errors import InvalidInput, NotFound
from tests.cases import all_cases
from tests.factories.accounts import UserFactory
from tests.factories.labels import queued_items
from tests.factories.projects import member
from tests.factories.reviews import answer, claim, expert, new_project, reviewer

pytestmark = pytest.mark.django_db
PROJECT = {"overlap": 2}

HOSTILE = "<script>alert(1)</script> \u202etxet\u202c {{ x }} <img src=x onerror=y> 🙃"


def say(item: Item, user: User, text: str, **options: Any) -> Comment:
    return write_comment(
        project=item.project, user=user, item_id=item.pk, text=text, **options
    ).comment


@all_cases(
    "text, words",
    [
        ("", "write something"),
        ("  \n", "write something"),
        ("a\0b", "NUL"),
        ("x" * 10_001, "10,000"),
    ],
)
def test_what_cannot_be_stored_is_refused(item: Item, text: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        say(item, reviewer(item.project), text)
    assert not Comment.objects.exists()


def test_an_item_of_another_project_is_not_found(project: Project) -> None:
    (foreign,) = queued_items(new_project(), 1)

    with pytest.raises(NotFound):
        write_comment(project=project, user=reviewer(project), item_id=foreign.pk, text="Hello")


def test_members_who_are_called_by_name_are_told(item: Item) -> None:
    project, author = item.project, reviewer(item.project)
    ana, dotted = (UserFactory.create(username=name) for name in ("ana", "ana.b."))
    for user in (ana, dotted):
        project.memberships.create(user=user, role=Role.REVIEWER)

    say(item, author, f"@ana. and @ana.b., not mail@ana, nor me, @{author.username}")

    assert set(Mention.objects.values_list("user__username", flat=True)) == {"ana", "ana.b."}
    assert unread_mentions(project.pk, ana.pk) == 1


def test_who_is_no_member_is_not_told(item: Item) -> None:
    outsider = UserFactory.create(username="outsider")

    written = write_comment(
        project=item.project,
        user=reviewer(item.project),
        item_id=item.pk,
        text="@outsider, @nobody",
    )

    assert not Mention.objects.exists()
    assert written.strangers == ("outsider", "nobody")
    assert unread_mentions(item.project_id, outsider.pk) == 0


def test_names_are_found_where_they_stand() -> None:
    assert find_mentions("@a-b+c@d @x.") == {"a-b+c@d": ["a-b+c@d"], "x.": ["x.", "x"]}
    assert find_mentions("me@example.org, @ , ＠x") == {}
    assert mark_mentions("<b>@ana. @eve</b>", ["ana"]) == (
        '&lt;b&gt;<b class="mention">@ana</b>. @eve&lt;/b&gt;'
    )


def test_a_remark_is_stored_once(item: Item) -> None:
    person = reviewer(item.project)
    common: dict[str, Any] = {"project": item.project, "user": person, "item_id": item.pk}

    first, again = (add_remark(**common, text="Odd. ") for _ in range(2))

    assert first == again
    assert add_remark(**common, text=" ") is None
    assert Comment.objects.count() == 1


def test_comments_are_resolved_and_opened_again(item: Item) -> None:
    project, person = item.project, member(item.project, Role.MANAGER)
    comment = say(item, person, "Is this spam?")
    options: dict[str, Any] = {"project": project, "user": person, "comment_id": comment.pk}

    settled = resolve_comment(**options)
    resolved_at = settled.resolved_at
    assert (resolve_comment(**options).resolved_at, settled.resolved_by) == (resolved_at, person)
    assert list(comment_rows(project, person, shown="resolved")) == [comment]
    assert resolve_comment(**options, resolved=False).resolved_at is None
    assert list(comment_rows(project, person)) == [comment]


def test_a_comment_of_another_project_is_not_found(item: Item) -> None:
    comment = say(item, reviewer(item.project), "Hello")
    elsewhere = new_project()

    with pytest.raises(NotFound):
        resolve_comment(
            project=elsewhere, user=member(elsewhere, Role.MANAGER), comment_id=comment.pk
        )


def test_who_has_not_answered_reads_nothing_yet(item: Item) -> None:
    project, author, late = item.project, reviewer(item.project), reviewer(item.project)
    comment = say(item, author, f"Surely good, @{late.username}")

    assert (
        thread_on(project, late, item.pk).comments,
        thread_on(project, late, item.pk).hidden,
    ) == ([], 1)
    with pytest.raises(NotFound):
        get_comment(project, late, comment.pk)
    assert see_mentions(project=project, user=late) == 0
    assert not any(row.readable for row in comment_rows(project, late))  # type: ignore[attr-defined]

    answer(claim(project, late), late, "good")

    assert thread_on(project, late, item.pk).comments == [comment]
    assert see_mentions(project=project, user=late) == 1
    assert unread_mentions(project.pk, late.pk) == 0


def test_what_is_said_of_a_settled_item_is_read_by_who_was_not_asked(item: Item) -> None:
    project, person = item.project, reviewer(item.project)
    for other in (reviewer(project), reviewer(project)):
        answer(claim(project, other), other, "good")
    first = say(item, member(project, Role.MANAGER), "Good, everybody.")
    second = say(item, member(project, Role.MANAGER), f"A model case, @{person.username}")

    assert thread_on(project, person, item.pk).comments == [first, second]
    assert see_mentions(project=project, user=person) == 1


def test_what_is_explained_to_somebody_they_read_at_once(item: Item) -> None:
    project, late, other = item.project, reviewer(item.project), reviewer(item.project)
    comment = say(item, expert(project), "Irony counts as bad.", explains=True, to=[late.pk])

    assert thread_on(project, late, item.pk).explanations == [comment]
    assert thread_on(project, other, item.pk).hidden == 1


def test_a_project_that_shows_opinions_shows_comments(item: Item) -> None:
    project, late = item.project, reviewer(item.project)
    say(item, reviewer(project), "Surely good")
    ReviewSettings.objects.create(project=project, show_opinions=True)

    assert thread_on(project, late, item.pk).open == 1

    item.state.reasons = ["audit"]
    item.state.save()
    assert thread_on(project, late, item.pk).hidden == 1


@pytest.mark.parametrize("role", [Role.MANAGER, Role.VIEWER])
def test_who_reads_the_ledger_reads_comments(item: Item, role: Role) -> None:
    say(item, reviewer(item.project), "Surely good")

    assert thread_on(item.project, member(item.project, role), item.pk).open == 1


def test_experts_read_what_is_said_of_a_conflict(item: Item) -> None:
    project, judge = item.project, expert(item.project)
    people = [reviewer(project), reviewer(project)]
    for person, value in zip(people, ("good", "bad"), strict=True):
        answer(claim(project, person), person, value)
    say(item, people[0], "It is irony")

    assert thread_on(project, judge, item.pk).open == 1
    assert thread_on(project, reviewer(project), item.pk).hidden == 1


def test_lists_are_short_and_cheap(
    item: Item, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    project, person = item.project, reviewer(item.project)
    mine = say(item, person, "Mine")
    theirs = say(item, reviewer(project), "Theirs")
    for n in range(5):
        say(item, reviewer(project), f"@{person.username} {n}")
    Comment.objects.filter(pk=theirs.pk).update(resolved_at=timezone.now())

    assert list(comment_rows(project, person, shown="mine")) == [mine]
    assert list(comment_rows(project, person, shown="resolved")) == [theirs]
    with django_assert_num_queries(4):  # role and kind of who looks; comments, mentions
        assert len(comment_rows(project, person, shown="mentions")) == 5
    with django_assert_num_queries(1):
        assert unread_mentions(project.pk, person.pk) == 5


def test_names_are_completed_from_the_project_alone(project: Project) -> None:
    for name in ("Mia", "mika", "max"):
        project.memberships.create(user=UserFactory.create(username=name), role=Role.VIEWER)
    UserFactory.create(username="miriam")

    assert complete_names(project, "mi") == ["Mia", "mika"]
