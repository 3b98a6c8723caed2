"""The evaluation page and the items behind its cells."""

import re
from typing import Any

import pytest
from django.test import Client

from apps.accounts.roles import Role
from apps.labels.models import ItemState
from apps.projects.models import Project
from tests.cases import all_cases
from tests.factories.agreement import compared_project, decide, propose, run_of
from tests.factories.labels import open_item
from tests.factories.ledger import ledger
from tests.factories.projects import ASPECTS, MOODS, ProjectFactory, member

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def aspects() -> Project:
    """A multi project of the labels Food and Service."""
    return ProjectFactory.create(definition=ASPECTS)


def viewer_of(project: Project, client: Client) -> Client:
    """A client signed in as a viewer."""
    client.force_login(member(project, Role.VIEWER))
    return client


def page(client: Client, project: Project, query: str = "", where: str = "") -> str:
    """The page's HTML."""
    response = client.get(f"/p/{project.slug}/evaluation/{where}{query}")
    assert response.status_code == 200
    return response.content.decode()


def test_a_viewer_sees_figures_matrices_and_where_it_fails(
    aspects: Project, client: Client
) -> None:
    run, _ = compared_project(
        aspects, [(["Food"], ["Food"]), (["Food"], []), (["Food"], []), ([], ["Service"])]
    )

    html = page(viewer_of(aspects, client), aspects)

    assert "against gold on" in html
    assert 'aria-label="2 items: predicted yes, gold no"' in html
    assert 'aria-label="1 item: predicted no, gold yes"' in html
    cell = f"/p/{aspects.slug}/evaluation/items/?run={run.pk}&amp;label=Food&amp;cell=yes-no"
    assert f'<a href="{cell}">Food: predicted yes, gold no</a>' in html
    assert html.index("Food: predicted yes, gold no") < html.index("Service: predicted no")


def test_the_verdict_is_first_and_of_sets_the_exact_match(aspects: Project, client: Client) -> None:
    compared_project(aspects, [(["Food"], ["Food"]), (["Food"], []), (["Food"], []), ([], [])])

    words = " ".join(re.sub(r"<[^>]*>", " ", page(viewer_of(aspects, client), aspects)).split())

    assert "50 % of the predictions match gold in every label" in words
    assert "the most common mistake is Food: predicted yes, gold no" in words


def test_the_verdict_on_texts_names_no_label(client: Client) -> None:
    texts = ProjectFactory.create(definition={"task": "text", "question": ""})
    compared_project(texts, [("red", "red"), ("red", "blue")])

    words = " ".join(re.sub(r"<[^>]*>", " ", page(viewer_of(texts, client), texts)).split())

    assert "50 % of the predictions match gold" in words
    assert "most common mistake" not in words


def test_of_mistakes_that_are_equally_common_none_is_called_the_most_common(
    aspects: Project, client: Client
) -> None:
    compared_project(aspects, [(["Food"], []), ([], ["Service"])])

    words = page(viewer_of(aspects, client), aspects)

    assert "Food: predicted yes, gold no" in words
    assert "most common mistake" not in words


def test_the_n_of_a_label_is_its_items_in_gold(client: Client) -> None:
    moods = ProjectFactory.create(definition=MOODS)
    compared_project(moods, [("good", "good")] * 3 + [("good", "bad")])

    shown = page(viewer_of(moods, client), moods)
    f1 = shown[shown.index('id="per-label"') :]

    assert re.findall(r">n (\d+)<", f1[: f1.index("</svg>")]) == ["3", "1"]
    table = f1[f1.index("<tbody>", f1.index("Scores per label")) :]
    counts = re.findall(r'figure__n">n (\d+)<', table[: table.index("</tbody>")])
    # Of good, then of bad, which was never predicted.
    assert counts == ["4", "3", "3", "4", "1", "1", "4"]


def test_f1_is_a_number_and_shares_are_per_cent_everywhere(client: Client) -> None:
    moods = ProjectFactory.create(definition=MOODS)
    compared_project(moods, [("good", "good")] * 3 + [("good", "bad")])

    shown = page(viewer_of(moods, client), moods)

    chart = shown[shown.index('id="per-label"') : shown.index("Scores per label")]
    assert "good: 0.86 (" in chart
    found = re.findall(r'data-name="([^"]+)">.*?figure__value">([^<]+)<', shown, re.DOTALL)
    assert found[:4] == [
        ("Precision", "75\xa0%"), ("Recall", "100\xa0%"), ("F1", "0.86"), ("Accuracy", "75\xa0%"),
    ]  # fmt: skip
    assert re.search(r'Macro F1.*?figure__value">0.43<', shown, re.DOTALL)


def test_gold_questions_are_not_listed_for_a_reviewer_who_may_still_get_them(
    aspects: Project, client: Client
) -> None:
    _, (item,) = compared_project(aspects, [(["Food"], [])], text="The soup was cold.")
    Project.objects.filter(pk=aspects.pk).update(check_share=0.1)
    ItemState.objects.filter(item=item).update(is_gold_question=True)

    assert "soup" in page(viewer_of(aspects, client), aspects, "?outcome=wrong", "items/")
    client.force_login(member(aspects, Role.REVIEWER))
    assert "soup" not in page(client, aspects, "?outcome=wrong", "items/")


def test_authors_are_no_choice(aspects: Project, client: Client) -> None:
    compared_project(aspects, [(["Food"], ["Food"])])
    ledger(aspects, {"crowd:ann": [["Food"]], "author:writer": [["Food"]]})

    html = page(viewer_of(aspects, client), aspects)

    assert "ann (Crowd)" in html
    assert "writer" not in html


def test_a_cell_lists_its_items_with_debate_and_both_values(
    aspects: Project, client: Client
) -> None:
    run = run_of(aspects)
    item = open_item(aspects, text="The soup was cold and the waiter kind.")
    label = propose(run, item, ["Food"], evidence={"Food": ["soup"], "Service": ["waiter"]})
    assert label is not None
    decide(item, [])

    html = page(viewer_of(aspects, client), aspects, "?label=Food&cell=yes-no", "items/")

    assert "Food: predicted yes, gold no" in html
    assert '<mark class="quote" data-label="Food">soup</mark>' in html
    assert ">waiter</mark>" not in html
    assert "None of these" in html
    assert f"/p/{aspects.slug}/debates/{run.debates.get().pk}/" in html
    assert f"/p/{aspects.slug}/items/{item.pk}/" in html


@all_cases(
    ("pairs", "gold_only", "words"),
    [
        ([], False, "Nothing predicted yet"),
        ([("good", None)], False, "No gold to compare with"),
        ([("good", None)], True, "No item has both"),
    ],
)
def test_what_is_missing_is_said(
    client: Client, pairs: list[tuple[str, None]], gold_only: bool, words: str
) -> None:
    project = ProjectFactory.create()
    compared_project(project, pairs)
    if gold_only:
        decide(open_item(project), "good")

    html = page(viewer_of(project, client), project)

    assert words in html
    assert "Start a run" not in html  # a viewer may not


def test_hostile_words_stay_words(client: Client) -> None:
    name = """Fo"od' <b>&"""
    project = ProjectFactory.create(definition={"task": "multi", "labels": [name]})
    run = run_of(project)
    item = open_item(project, text=f"{HOSTILE} {'word ' * 10_000}", external_id='"><i>')
    propose(run, item, [name], evidence={name: [HOSTILE]})
    decide(item, [])
    viewer_of(project, client)

    html = page(client, project)
    behind = page(client, project, f"?label={name.replace('&', '%26')}&cell=yes-no", "items/")

    for shown in (html, behind):
        assert HOSTILE not in shown
        assert "<b>" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in behind
    assert len(behind) < 60_000
    assert "label=Fo%22od%27+%3Cb%3E%26&amp;cell=yes-no" in html


@all_cases(
    ("query", "status"),
    [
        ("?run=abc", 422),
        ("?run=999999", 404),
        ("?run=999999999999999999", 404),
        ("?annotator=999999", 404),
        ("?of=run%3Dabc", 422),
        ("items/?label=Food&cell=maybe", 422),
        ("items/?label=Gone&cell=yes-no", 422),
        ("items/?outcome=so-so", 422),
    ],
)
def test_a_wrong_address_is_answered_in_words(
    aspects: Project, client: Client, query: str, status: int
) -> None:
    compared_project(aspects, [(["Food"], [])])
    viewer_of(aspects, client)

    answer = client.get(f"/p/{aspects.slug}/evaluation/{query}")

    assert answer.status_code == status


def test_a_page_of_items_takes_the_same_queries_however_many_there_are(
    aspects: Project, client: Client, django_assert_num_queries: Any
) -> None:
    compared_project(aspects, [(["Food"], [])] * 12)
    viewer_of(aspects, client)

    # session, user, bell; project by membership; newest run, its first label; gold, labels, ended
    # debates, schema; count and page of items, their labels, their debates
    with django_assert_num_queries(15):
        page(client, aspects, "?outcome=wrong", "items/")
