"""/sites/<id>/questions/: what is asked about, in which order, in which words."""

from typing import Any

import pytest
from django.test import Client

from apps.authors.feature_forms import FeatureForm
from apps.authors.models import Feature, Site
from labelhub.core.interview.features import Feature as Definition
from labelhub.core.interview.features import starter_library
from tests.authors.pages.reading import page, words
from tests.cases import all_cases

pytestmark = pytest.mark.django_db
EVERY = [feature for features in starter_library().values() for feature in features]
OWN = {
    "key": "mood",
    "name": "Mood",
    "definition": "The author's mood.",
    "answer": "choice",
    "values": "low: sad, tired\nhigh: glad",
    "cues": "sad, glad",
    "question_en": "How was your mood when you wrote this?",
    "options_en": "low = Low\nhigh = High",
}


def keys(site: Site) -> list[str]:
    return [feature.key for feature in site.features.asked()]


def change(client: Client, site: Site, key: str, do: str) -> Any:
    return client.post(page(site, f"questions/{key}/change/"), {"do": do})


def as_posted(feature: Definition, languages: list[str]) -> dict[str, Any]:
    """What a browser sends when somebody opens the form and saves it."""
    form = FeatureForm(feature=feature, languages=languages)
    shown = {field.name: field.value() for field in form}
    return {
        name: value for name, value in shown.items() if value is not None and value is not False
    }


def test_they_move_up_and_down(manager: Client, site: Site) -> None:
    first, second, *rest = keys(site)
    change(manager, site, second, "up")
    assert keys(site) == [second, first, *rest]
    change(manager, site, second, "up")
    change(manager, site, second, "down")
    assert keys(site) == [first, second, *rest]
    change(manager, site, rest[-1], "down")
    assert keys(site)[-1] == rest[-1]


def test_a_retired_one_is_kept_and_can_be_asked_again(manager: Client, site: Site) -> None:
    first, *rest = keys(site)
    change(manager, site, first, "retire")
    assert keys(site) == rest
    assert "Retired (1)" in words(manager.get(page(site, "questions/")))
    change(manager, site, first, "ask")
    assert keys(site) == [*rest, first]


def test_the_last_one_stays(manager: Client, site: Site) -> None:
    for key in keys(site)[1:]:
        change(manager, site, key, "retire")
    assert change(manager, site, keys(site)[0], "retire").status_code == 422
    assert len(keys(site)) == 1


def test_features_of_the_library_can_be_added(manager: Client, site: Site) -> None:
    before = keys(site)
    manager.post(page(site, "questions/add/"), {"picked": ["emotion/cause", "emotion/nothing"]})
    assert keys(site) == [*before, "cause"]
    assert manager.post(page(site, "questions/add/")).status_code == 422


@pytest.mark.thorough
@pytest.mark.parametrize("feature", EVERY, ids=lambda feature: feature.key)
def test_opening_and_saving_changes_nothing(
    manager: Client, site: Site, feature: Definition
) -> None:
    Feature.objects.filter(site=site).exclude(key=feature.key).delete()
    row, _ = Feature.objects.get_or_create(
        site=site, key=feature.key, defaults={"definition": feature.to_json()}
    )
    response = manager.post(
        page(site, f"questions/{feature.key}/edit/"), as_posted(feature, site.languages)
    )
    assert response.status_code == 302
    row.refresh_from_db()
    assert row.definition == feature.to_json()


def test_words_and_templates_are_edited(manager: Client, site: Site) -> None:
    feature = starter_library()["shopping"][1]
    posted = as_posted(feature, site.languages)
    posted |= {"name": "Hurry", "question_en": "How much of a hurry were you in?"}
    manager.post(page(site, "questions/urgency/edit/"), posted)
    now = site.features.get(key="urgency").parsed
    assert now.name == "Hurry"
    assert now.templates["en"].question == "How much of a hurry were you in?"
    assert now.templates["de"] == feature.templates["de"]
    assert keys(site).index("urgency") == 1


def test_one_of_ones_own(manager: Client, site: Site) -> None:
    assert manager.post(page(site, "questions/new/"), OWN).status_code == 302
    made = site.features.get(key="mood").parsed
    assert made.values == ("low", "high")
    assert made.meanings == {"low": "sad, tired", "high": "glad"}
    assert made.templates["en"].options == {"low": "Low", "high": "High"}
    assert keys(site)[-1] == "mood"


@pytest.mark.thorough
@all_cases(
    ("changes", "field", "message"),
    [
        ({"key": "Mood!"}, "key", "must begin with a small letter"),
        ({"key": "urgency"}, "key", "This site already has a feature with this key"),
        ({"values": "one"}, "values", "must be at least 2"),
        ({"values": "a|b\nc"}, "values", "must not contain commas"),
        ({"options_en": "low = Low"}, "options_en", "must have words for every value"),
        ({"question_en": ""}, "question_en", "must not be empty"),
        ({"values": "", "ordinal": "on", "options_en": ""}, "ordinal", "only a closed choice"),
        ({"answer": "number", "bounds": "5, many"}, "bounds", "must be numbers"),
        ({"answer": "number", "bounds": ""}, "bounds", "must be 2 to 19 numbers"),
        ({"answer": "yes_no"}, "values", "must map values"),
        ({"definition": ""}, "definition", "This field is required"),
        ({"name": "x" * 61}, "name", "at most 60 characters"),
    ],
)
def test_a_fault_is_told_beside_its_field(
    manager: Client, site: Site, changes: dict[str, Any], field: str, message: str
) -> None:
    response: Any = manager.post(page(site, "questions/new/"), OWN | changes)
    assert response.status_code == 422
    assert message in " ".join(response.context["form"].errors[field])
    assert not site.features.filter(definition__name="Mood").exists()


def test_a_number_has_bounds_and_another_answer_none(manager: Client, site: Site) -> None:
    number = {"answer": "number", "bounds": "10, 20\n50", "unit": "EUR", "options_en": ""}
    sent = OWN | number | {"values": "", "prior": "0.5", "ordinal": "on"}
    assert manager.post(page(site, "questions/new/"), sent).status_code == 302
    made = site.features.get(key="mood").parsed
    assert (made.bounds, made.unit, made.ordinal, made.prior) == ((10, 20, 50), "EUR", True, 0.5)
    assert made.templates["en"].options["10 to 20"] == "10 to under 20 EUR"
    assert "10 to 20" in words(manager.get(page(site, "questions/?q=mood")))
    manager.post(page(site, "questions/mood/edit/"), sent | {"answer": "yes_no", "prior": ""})
    made = site.features.get(key="mood").parsed
    assert (made.values, made.bounds, made.prior) == (("yes", "no"), (), None)
    assert made.templates["en"].options == {"yes": "Yes", "no": "No"}
