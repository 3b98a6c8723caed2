"""The review screen and the requests its script makes."""

import re
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.debates.models import Debate, Turn
from apps.labels.models import Label
from apps.projects.models import Item, Project
from apps.reviews.models import KeyMap, Slot
from apps.reviews.queue.key_bindings import DEFAULTS, keys_of
from apps.reviews.queue.status import queue_progress
from apps.reviews.queue.undo import return_to_queue, undo_last
from apps.reviews.templatetags.reviews import spoken
from labelhub.core.schema import schema_from_names
from tests.cases import all_cases
from tests.factories.accounts import browser_of
from tests.factories.debates import finished_debate, project_with_items, started_run
from tests.factories.labels import queued_items
from tests.factories.projects import ASPECTS, member
from tests.factories.reviews import (
    answer,
    claim,
    new_project,
    reviewer,
    suggest,
    suggested_items,
    token,
)

pytestmark = pytest.mark.django_db

JSON = {"accept": "application/json"}
SCALE = {
    "task": "ordinal",
    "question": "How warm?",
    "labels": [
        {"name": "cold", "point": 1},
        {"name": "mild", "point": 2},
        {"name": "hot", "point": 3},
    ],
}


def page(project: Project, rest: str = "") -> str:
    return f"/p/{project.slug}/review/{rest}"


def fields(html: str) -> dict[str, str]:
    """The hidden fields of the item on screen."""
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', html)
    return {name: value.replace("&quot;", '"') for name, value in found}


def test_it_shows_the_text_with_the_evidence_marked(project: Project, browser: Client) -> None:
    (item,) = queued_items(project, 1, text="The <b>soup</b> was cold.")
    suggest(item, "bad", evidence={"bad": ["was cold"]}, reasons=["critic_differs"])

    html = browser.get(page(project)).content.decode()

    assert "&lt;b&gt;soup&lt;/b&gt; <mark" in html
    (mark,) = re.findall(r"<mark([^>]*)>was cold</mark>", html)
    assert all(part in mark for part in ('title="bad"', 'data-color="orange"', 'tabindex="0"'))
    assert "Text matcher (demo)" in html
    assert "critic and judge disagree" in html
    assert re.search(r'value="bad"\s+checked', html)


def test_no_inline_script_or_style(project: Project, browser: Client) -> None:
    (item,) = queued_items(
        project, 1, text="<script>alert(1)</script>", context=[{"role": "user", "text": "<i>x"}]
    )
    suggest(item, "good", evidence={"good": ["<script>"]})

    html = browser.get(page(project)).content.decode()

    assert not re.search(r"<script(?![^>]*\bsrc=)|\bstyle=|\bon\w+=", html)


@pytest.mark.parametrize(
    ("definition", "item", "sent", "stored"),
    [
        (ASPECTS, {}, ["Food", "Service"], ["Food", "Service"]),
        (SCALE, {}, ["mild"], 2),
        ({"task": "text", "question": "Why?", "labels": []}, {}, ["so\r\nit is"], "so\nit is"),
        (
            {"task": "per_item", "question": "", "labels": []},
            {"question": "Meant how?", "options": ["as a joke", "seriously"]},
            ["as a joke"],
            "as a joke",
        ),
    ],
)
def test_every_task_can_be_answered(
    definition: dict[str, Any], item: dict[str, Any], sent: list[str], stored: Any
) -> None:
    project = new_project(definition=definition)
    queued_items(project, 1, **item)
    browser = browser_of(reviewer(project))
    html = browser.get(page(project)).content.decode()
    assert item.get("question", definition["question"]) in html

    response = browser.post(page(project, "submit/"), {**fields(html), "value": sent}, headers=JSON)

    assert response.status_code == 200
    assert Label.objects.get().value == stored


@pytest.fixture
def set_browser() -> Client:
    """Somebody who reviews a project that asks for a set, of one item."""
    project = new_project(definition=ASPECTS)
    queued_items(project, 1)
    return browser_of(reviewer(project))


def submitted(browser: Client, **sent: Any) -> Any:
    """What the page's form sends: its hidden fields and what was chosen."""
    project = Project.objects.get()
    shown = fields(browser.get(page(project)).content.decode())
    return browser.post(page(project, "submit/"), shown | sent, headers=JSON)


def test_none_of_these_is_a_choice_of_its_own(set_browser: Client) -> None:
    response = submitted(set_browser, none="1")

    assert response.status_code == 200
    assert Label.objects.get().value == []


@all_cases(
    "sent, words",
    [
        ({}, "choose a label or “None of these”"),
        ({"value": []}, "choose a label or “None of these”"),
        ({"value": ["Food"], "none": "1"}, "choose either labels or “None of these”"),
    ],
)
def test_a_set_that_nobody_chose_is_refused(
    set_browser: Client, sent: dict[str, Any], words: str
) -> None:
    response = submitted(set_browser, **sent)

    assert response.status_code == 422
    assert words in response.json()["message"]
    assert not Label.objects.exists()


def test_a_suggestion_of_none_is_chosen_as_such(set_browser: Client) -> None:
    project = Project.objects.get()
    suggest(project.items.get(), [])

    html = set_browser.get(page(project)).content.decode()

    (choice,) = re.findall(r'<input[^>]*name="none"[^>]*>', html)
    assert " checked" in choice
    assert f'data-key="{DEFAULTS["none"]}"' in choice


def test_a_key_of_ones_own_is_taken_from_an_action_that_is_younger(person: User) -> None:
    KeyMap.objects.create(user=person, keys={"skip": DEFAULTS["none"], "go": "j"})

    keys = keys_of(person)

    assert (keys["skip"], keys["none"], keys["go"]) == (DEFAULTS["none"], "", "j")


def test_what_was_sent_back_says_why(project: Project, person: User, browser: Client) -> None:
    queued_items(project, 1)
    slot = claim(project, person)
    answer(slot, person, "good")
    manager = member(project, Role.MANAGER)
    reason = "Irony: read the <last> line."
    return_to_queue(project=project, item_ids=[slot.item_id], by=manager, reason=reason)

    shown = browser.get(page(project)).content.decode()

    assert "Your answer was sent back:" in shown
    assert "Irony: read the &lt;last&gt; line." in shown

    answer(claim(project, person), person, "bad")
    undo_last(project=project, user=person)
    assert "was sent back" not in browser.get(page(project)).content.decode()


def test_a_plain_form_works_without_script(project: Project, browser: Client) -> None:
    queued_items(project, 2)
    html = browser.get(page(project)).content.decode()

    response = browser.post(
        page(project, "submit/"), {**fields(html), "value": "good"}, follow=True
    )

    assert "Stored." in response.content.decode()
    assert Label.objects.get().action == "new"
    assert fields(response.content.decode())["item"] != fields(html)["item"]


def test_only_wrong_leaves_the_right_answer_to_others(project: Project, browser: Client) -> None:
    (item,) = queued_items(project, 1)
    suggest(item, "good")
    sent = fields(browser.get(page(project)).content.decode())

    reply = browser.post(
        page(project, "submit/"), {**sent, "value": "good", "reject": "only"}, headers=JSON
    ).json()
    undone = browser.post(page(project, "undo/"), headers=JSON).json()

    assert Label.objects.get(action="rejected").rejected
    assert reply["message"] == "Rejected: somebody else gives the right label."
    assert (undone["action"], undone["rejected"]) == ("reject", True)
    assert fields(undone["html"])["item"] == str(item.pk)


def test_the_page_may_ask_for_one_more(project: Project, browser: Client) -> None:
    _, second = queued_items(project, 2)
    shown = fields(browser.get(page(project)).content.decode())

    response = browser.post(page(project, "next/"), {"lease": [shown["lease"]]})

    assert fields(response.content.decode())["item"] == str(second.pk)
    ahead = fields(response.content.decode())["lease"]
    again = browser.post(page(project, "next/"), {"lease": [shown["lease"], ahead]})
    assert again.status_code == 204


def test_opening_the_page_again_shows_the_same_item_under_a_new_lease(
    project: Project, browser: Client
) -> None:
    queued_items(project, 2)

    first, again = (fields(browser.get(page(project)).content.decode()) for _ in range(2))
    browser.post(page(project, "release/"), {"lease": first["lease"]})  # arrives late

    assert first["item"] == again["item"]
    assert Slot.objects.live(timezone.now()).filter(lease_token=again["lease"]).exists()


@all_cases("sent", [{}, {"item": "x"}, {"item": "9" * 30}])
def test_nonsense_is_refused(project: Project, browser: Client, sent: dict[str, str]) -> None:
    assert browser.post(page(project, "submit/"), sent, headers=JSON).status_code == 422
    assert browser.post(page(project, "skip/"), sent, headers=JSON).status_code == 422


def test_skip_undo_and_back_again(project: Project, item: Item, browser: Client) -> None:
    sent = fields(browser.get(page(project)).content.decode())
    browser.post(page(project, "skip/"), {**sent, "comment": "unclear"}, headers=JSON)
    assert "Take up the 1 you skipped" in browser.get(page(project)).content.decode()

    reply = browser.post(page(project, "undo/"), headers=JSON).json()

    assert reply["undone"]
    assert fields(reply["html"])["item"] == str(item.pk)
    assert not browser.post(page(project, "undo/"), headers=JSON).json()["undone"]


def test_renew_says_what_is_still_held(project: Project, browser: Client, person: User) -> None:
    queued_items(project, 1)
    held = str(token(claim(project, person)))

    reply = browser.post(page(project, "renew/"), {"lease": [held, "nonsense"]}).json()

    assert reply == {"kept": [held]}


def test_the_page_takes_a_fixed_number_of_queries(
    project: Project, browser: Client, django_assert_max_num_queries: Any
) -> None:
    suggested_items(project, 5)

    with django_assert_max_num_queries(46):
        browser.get(page(project))


def test_a_second_answer_is_said_to_be_one_and_counted_once(
    browser: Client, project: Project, person: User
) -> None:
    """Two tabs: what the stale one sends replaces what the other did, and says so."""
    queued_items(project, 2)
    slot = claim(project, person)
    address = page(project, "submit/")
    sent = {"item": slot.item_id, "lease": str(slot.lease_token), "value": "good"}

    first = browser.post(address, sent, headers=JSON).json()
    again = browser.post(address, sent, headers=JSON).json()
    changed = {**sent, "lease": str(uuid4()), "value": "bad"}
    second = browser.post(address, changed, headers=JSON).json()

    assert [reply["replaced"] for reply in (first, again, second)] == [False, False, True]
    assert "in place of your earlier answer" in second["message"]
    progress = queue_progress(project, person)
    assert (progress.done_today, progress.left) == (1, 1)


MANY = [f"Food/{name}" for name in ("Taste", "Price")] + [f"Label {n}" for n in range(3, 31)]


def many_labels() -> Client:
    """Somebody who reviews a project of thirty labels."""
    labels = [{"name": name} for name in MANY]
    project = new_project(definition={"task": "multi", "question": "", "labels": labels})
    queued_items(project, 1)
    return browser_of(reviewer(project))


def test_labels_beyond_the_ninth_have_letters_that_no_action_has() -> None:
    html = many_labels().get(page(Project.objects.get())).content.decode()

    boxes = re.findall(r'name="value"\s+value="([^"]+)"(?: data-key="(.)")?', html)
    keys = [key for _, key in boxes]
    assert [name for name, _ in boxes] == MANY
    assert keys[:11] == [*"123456789", "b", "e"]
    assert not {key for key in keys if key} & {
        key for given in DEFAULTS.values() for key in given.split()
    }
    assert keys[-1] == ""


def test_labels_with_a_common_beginning_are_a_group() -> None:
    html = many_labels().get(page(Project.objects.get())).content.decode()

    assert re.findall(r'role="group" aria-label="(Food|Label[^"]*)"', html) == ["Food"]
    assert '<span class="choice__group">Food: </span>Taste' in html


def test_that_others_disagree_is_no_news_before_ones_own_answer() -> None:
    project = new_project(overlap=3)
    queued_items(project, 1)
    for value in ("good", "bad"):
        person = reviewer(project)
        answer(claim(project, person), person, value)
    browser = browser_of(reviewer(project))

    assert "isagree" not in browser.get(page(project)).content.decode()


def test_a_debate_is_who_said_what_about_which_label() -> None:
    project = project_with_items(1, definition=ASPECTS)
    text = '- Food: disagree - "only soup"\nNothing else.\n**Final Decision:** Service'
    finished_debate(started_run(project), {"annotator": ["Service"]}, text=text)
    item = project.items.get()
    browser = browser_of(reviewer(project))

    html = browser.get(page(project, f"items/{item.pk}/debate/")).content.decode()

    assert re.findall(r"<strong>(\w+)</strong>", html) == ["Annotator"]
    assert re.findall(r'<span class="tag" data-color="(\w+)" dir="auto">(\w+)<', html) == [
        ("orange", "Service"),
        ("blue", "Food"),
    ]
    assert "disagree - &quot;only soup&quot;" in html
    assert "Nothing else." in html
    assert "Final Decision" not in html


@pytest.mark.timeout(20)
@all_cases("filler", [" ", "*", "* ", ": ", "# "])
def test_a_model_that_repeats_itself_does_not_hold_up_the_page(filler: str) -> None:
    schema = schema_from_names("multi", ["Food"])
    turn = Turn(text=f"- {filler * 20_000}x\n- **Food:** fresh", debate=Debate(item=Item()))

    assert spoken(turn, schema)[-1] == ("Food", "fresh")
