"""The kinds of providers, and the page with a recipe for each."""

import re
from pathlib import Path

import pytest

from apps.llm.addresses import check_base_url
from apps.llm.models import ModelSpec, Provider
from apps.llm.presets import Preset, preset_of, presets

GUIDE = (Path(__file__).parents[2] / "docs/models.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"^### ([^\n]+)\n\n(.+?)(?=^#|\Z)", GUIDE, re.MULTILINE | re.DOTALL))


def test_the_guide_has_a_recipe_for_each_kind_in_their_order() -> None:
    assert list(RECIPES) == [preset.title for preset in presets().values()]


@pytest.mark.parametrize("preset", presets().values(), ids=lambda preset: preset.name)
def test_a_recipe_says_what_the_preset_fills_in(preset: Preset) -> None:
    recipe = RECIPES[preset.title]
    assert f"REST kind `{preset.name}`." in recipe
    assert f"`{preset.example}`" in recipe
    for filled_in in (preset.base_url, preset.keys_at):
        assert filled_in in recipe
    assert recipe.startswith("Tried" if preset.tried else "Untried")
    assert len(re.findall(r"^\d\. ", recipe, re.MULTILINE)) == 4


@pytest.mark.parametrize("preset", presets().values(), ids=lambda preset: preset.name)
def test_a_preset_can_be_saved_as_it_is(preset: Preset) -> None:
    assert preset.key in {"required", "optional", "none"}
    assert preset.kind in Provider.Kind.values
    assert bool(preset.api_version) == (preset.kind == Provider.Kind.AZURE)
    if preset.base_url:
        assert check_base_url(preset.base_url, private=preset.own_server) == preset.base_url
    ModelSpec(name=preset.example, **preset.model).clean_fields(exclude=["provider"])


def test_a_provider_without_a_preset_has_that_of_its_protocol() -> None:
    assert preset_of(Provider(kind="azure")).name == "azure"
    assert preset_of(Provider(base_url="http://vllm:8000/v1")).name == "other"
