"""The parts that every page is made of."""

from typing import Any

import pytest
from django import forms
from django.core.paginator import Paginator
from django.template import Context, Template
from django.test import RequestFactory

from apps.common.charts import KIND_WORDS
from apps.common.design import _ICONS
from tests.common.helpers import sprite_names


def draw(source: str, /, *, path: str = "/", **context: Any) -> str:
    context["request"] = RequestFactory().get(path)
    return Template("{% load labelhub %}" + source).render(Context(context))


def draw_part(name: str, /, **context: Any) -> str:
    return draw('{% include "components/' + name + '.html" %}', **context)


class Sample(forms.Form):
    name = forms.CharField(help_text="As others see it.")
    note = forms.CharField(required=False)
    blind = forms.BooleanField(required=False)
    scope = forms.ChoiceField(choices=[("a", "All")], widget=forms.RadioSelect)
    token = forms.CharField(widget=forms.HiddenInput)


def test_every_icon_that_is_used_is_in_the_sprite() -> None:
    kinds = {f"kind-{kind}" for kind in KIND_WORDS}
    assert {*_ICONS, *kinds} <= sprite_names()


def test_an_icon_is_decoration_unless_it_is_named() -> None:
    assert 'aria-hidden="true"' in draw('{% icon "play" %}')
    named = draw('{% icon "flag" label=name %}', name='"Flagged" <b>')
    assert 'role="img" aria-label="&quot;Flagged&quot; &lt;b&gt;"' in named


def test_a_kind_has_its_shape_its_word_and_its_name() -> None:
    html = draw_part("kind", kind="llm", name="<judge>", offline=False)
    assert "icons.svg#kind-llm" in html
    assert "LLM" in html
    assert "&lt;judge&gt;" in html


def test_the_text_matcher_is_never_called_an_llm() -> None:
    html = draw_part("kind", kind="llm", name="offline", offline=True)
    assert "Text matcher (demo)" in html
    assert "LLM" not in html


def test_a_field_names_its_hint_and_its_faults() -> None:
    html = draw_part("field", field=Sample({})["name"])
    assert 'aria-describedby="id_name_helptext id_name_error"' in html
    assert 'aria-invalid="true"' in html
    assert 'id="id_name_helptext"' in html
    assert 'id="id_name_error"' in html


def test_only_fields_that_may_stay_empty_say_so() -> None:
    form = Sample()
    assert "optional" in draw_part("field", field=form["note"])
    assert "optional" not in draw_part("field", field=Sample({"note": "kept"})["note"])
    assert "optional" not in draw_part("field", field=form["name"])
    assert "optional" not in draw_part("field", field=form["blind"])


def test_choices_are_a_named_group() -> None:
    html = draw_part("field", field=Sample()["scope"])
    assert "<fieldset" in html
    assert "<legend>Scope" in html


def test_a_form_shows_the_faults_of_what_is_hidden() -> None:
    form = Sample({"name": "x", "scope": "a"})
    assert form.is_valid() is False
    assert "This field is required." in draw_part("form_errors", form=form)


def test_progress_is_a_value_or_says_that_the_end_is_unknown() -> None:
    known = draw_part("progress", done=1812, total=2000, label="Debates")
    assert 'value="1812" max="2000"' in known
    assert "1,812 of 2,000" in known
    unknown = draw_part("progress", done=40, total=None, label="Rows")
    assert "max=" not in unknown
    assert 'max="1"' in draw_part("progress", done=0, total=0, label="Rows")


def test_a_figure_is_drawn_with_its_interval_and_n() -> None:
    figure = {"value": 0.8123, "low": 0.77, "high": 0.85, "n": 412}
    html = draw("{% figure fig percent=True %}", fig=figure)
    assert "81\xa0%" in html
    assert "77\xa0% to 85\xa0%" in html
    assert "n 412" in html
    assert "style=" not in html


def test_a_figure_that_is_missing_says_why() -> None:
    html = draw("{% figure fig %}", fig={"value": None, "reason": "too few <items>"})
    assert "too few &lt;items&gt;" in html


def test_the_pager_keeps_the_rest_of_the_address() -> None:
    page = Paginator(range(1240), 50).get_page(2)
    html = draw_part("pager", page=page, path="/?kind=llm&page=2")
    assert 'href="?kind=llm&amp;page=3"' in html
    assert "51–100 of 1,240" in html


@pytest.mark.parametrize(
    ("sort", "state", "link"),
    [
        ("", "", "?q=x&amp;sort=cost"),
        ("cost", "ascending", "?q=x&amp;sort=-cost"),
        ("-cost", "descending", "?q=x&amp;sort=cost"),
    ],
)
def test_a_sorted_column_says_so_and_links_to_the_other_order(
    sort: str, state: str, link: str
) -> None:
    path = f"/?q=x&page=7&sort={sort}" if sort else "/?q=x&page=7"
    html = draw('{% sort_header "cost" "Cost" %}', path=path)
    assert f'href="{link}"' in html
    assert (f'aria-sort="{state}"' in html) is bool(state)


@pytest.mark.parametrize(
    ("name", "letters"),
    [("Maria Santos", "MS"), ("ada", "A"), ("j.r.r tolkien", "JT"), ("", "?"), ("李 明", "李明")],
)
def test_initials(name: str, letters: str) -> None:
    assert draw("{{ name|initials }}", name=name) == letters


def test_values_are_said_in_words() -> None:
    assert draw("{{ value|value_words }}", value=[]) == "None of these"
    assert draw("{{ value|value_words }}", value=["<a>", "b"]) == "&lt;a&gt;, b"
    assert draw("{{ number|count }} {{ none|count }}", number=12345, none=None) == "12,345 —"


def test_every_word_in_a_part_is_escaped() -> None:
    hostile = "<script>alert(1)</script>"
    parts: dict[str, dict[str, Any]] = {
        "badge": {"text": hostile},
        "empty": {"title": hostile, "text": hostile},
        "callout": {"title": hostile, "text": hostile},
        "toast": {"text": hostile, "tone": hostile},
        "tile": {"label": hostile, "value": hostile},
        "code": {"id": "x", "text": hostile},
        "steps": {"steps": [{"text": hostile}]},
        "tabs": {"tabs": [{"text": hostile, "url": "/"}]},
        "dialog": {"id": "x", "title": hostile, "text": hostile},
    }
    for name, context in parts.items():
        assert "<script" not in draw_part(name, **context), name


def test_a_table_has_its_head_its_names_and_scrolls_by_keyboard() -> None:
    html = draw(
        '{% table "table--tight.wide" "Id" True|numeric:"Items" may|hidden:"Delete" '
        'label=name caption="All" %}'
        "<tr><td>1</td></tr>{% endtable %}",
        may=True,
        name="<Things>",
    )
    assert html == (
        '<div class="table-wrap" tabindex="0" role="region" aria-label="&lt;Things&gt;">'
        '<table class="table table--tight wide"><caption class="visually-hidden">All</caption>'
        '<thead><tr><th scope="col">Id</th><th scope="col" class="numeric">Items</th>'
        '<th scope="col"><span class="visually-hidden">Delete</span></th></tr></thead>'
        "<tbody><tr><td>1</td></tr></tbody></table></div>"
    )


def test_a_table_leaves_out_columns_and_names_that_it_does_not_have() -> None:
    html = draw('{% table "" "Id" may|hidden:"Delete" %}{% endtable %}', may=False)
    assert html == (
        '<div class="table-wrap"><table class="table">'
        '<thead><tr><th scope="col">Id</th></tr></thead><tbody></tbody></table></div>'
    )
