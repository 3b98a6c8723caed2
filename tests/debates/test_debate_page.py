"""The page of one debate, and the record of its calls: for members, lazily, never as markup."""

from typing import Any

import pytest
from django.urls import reverse

from apps.accounts.roles import Role
from apps.debates.models import Debate, Turn
from tests.debates.test_conversation import debate_of, end, say
from tests.factories.projects import member_browser

pytestmark = pytest.mark.django_db

HOSTILE = "</div><script>alert(1)</script><b onclick='x'>{{ 7|add:7 }}\u202e \u0001 <img src=x>"


def seen(debate: Debate, name: str = "debate_detail", query: str = "", **headers: str) -> str:
    """The page as a viewer sees it."""
    client = member_browser(debate.run.project, Role.VIEWER)
    address = reverse(name, args=[debate.run.project.slug, debate.pk])
    response = client.get(f"{address}{query}", headers=headers)
    assert response.status_code == 200
    return response.content.decode()


def test_hostile_words_are_only_words() -> None:
    debate = debate_of("ecj")
    turn = say(
        debate,
        "extractor",
        "extractor",
        HOSTILE,
        text=HOSTILE * 20,
        reasoning=HOSTILE,
        note=HOSTILE,
        off_menu=HOSTILE[:80],
        evidence={HOSTILE: [HOSTILE, debate.item.text]},
        ranking=[HOSTILE],
        probabilities={HOSTILE: 0.5},
        model_answered=HOSTILE,
        messages=[{"role": HOSTILE, "content": HOSTILE}],
        params_asked={HOSTILE: HOSTILE},
        params_effective={HOSTILE: {HOSTILE: HOSTILE}},
        attempts=[{"http_status": 200, "seconds": 0.1, "note": HOSTILE}],
        call_key="0" * 64,
    )
    end(debate, HOSTILE, first=HOSTILE, flips={HOSTILE: [HOSTILE]}, injection=[HOSTILE])
    Debate.objects.update(flags=[HOSTILE], reasons=[HOSTILE], error=HOSTILE)
    for page in (
        seen(debate),
        seen(debate, "debate_calls"),
        seen(debate, "debate_calls", f"?turn={turn.pk}", **{"HX-Request": "true"}),
    ):
        assert "<script>alert" not in page
        assert "<img" not in page
        assert "<b " not in page
        assert "{{ 7|add:7 }}" in page
        assert "14" not in page.split("{{ 7|add:7 }}")[1][:10]


def test_the_page_is_small_and_what_was_sent_comes_on_demand() -> None:
    debate = debate_of("self_consistency", samples=25)
    for number in range(1, 26):
        say(
            debate,
            f"sample/{number}",
            "annotator",
            "good",
            messages=[{"role": "user", "content": "A long prompt. " * 500}],
            reasoning="Hm. " * 500,
            params_asked={"temperature": 0.7},
            params_effective={"temperature": 1, "max_tokens": 300},
        )
    end(debate, "good")
    page = seen(debate)
    assert "A long prompt." not in page
    assert "Hm. Hm." not in page
    assert len(page) < 90_000
    turn = Turn.objects.order_by("pk")[3]
    assert f'?turn={turn.pk}"' in page
    part = seen(debate, "debate_calls", f"?turn={turn.pk}", **{"HX-Request": "true"})
    assert "<html" not in part
    assert part.count("A long prompt. A long prompt. A") > 0
    assert part.count('class="record"') == 1
    assert turn.prompt.hash in part
    assert "0.7" in part
    assert "300" in part
    alone = seen(debate, "debate_calls", f"?turn={turn.pk}")
    assert "<html" in alone
    assert alone.count('class="record"') == 1


def test_more_turns_take_no_more_queries(django_assert_num_queries: Any) -> None:
    debate = debate_of("self_consistency", samples=25)
    client = member_browser(debate.run.project, Role.VIEWER)
    slug = debate.run.project.slug
    address = reverse("debate_detail", args=[slug, debate.pk])
    for count in (1, 20):
        for number in range(count):
            step = f"sample/{count + number}"
            say(debate, step, "annotator", "good", evidence={"good": ["text"]})
        # session, user, bell, project by membership, debate, turns, the debates before and after
        with django_assert_num_queries(9):
            client.get(address, {"gold": "none"})
        # session, user, bell, project by membership, debate, turns, unread comments
        with django_assert_num_queries(7):
            client.get(reverse("debate_calls", args=[slug, debate.pk]))


def test_a_call_is_not_found_through_another_debate() -> None:
    debate, other = debate_of("single"), debate_of("single")
    turn = say(other, "annotator", "annotator", "good")
    client = member_browser(debate.run.project)
    address = reverse("debate_calls", args=[debate.run.project.slug, debate.pk])
    assert client.get(address, {"turn": turn.pk}).status_code == 404
