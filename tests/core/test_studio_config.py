"""Label schemas out of Label Studio's configurations."""

from typing import Any

import pytest

from labelhub.core.schema import SchemaError, schema_from_studio
from tests.cases import all_cases

TEXT = '<Text name="t" value="$text"/>'
CHOICES = '<Choices name="mood" toName="t" choice="{}"><Choice value="Good" alias="good" hint="Glad"/><Choice value="bad"/></Choices>'  # noqa: E501
AREA = '<TextArea name="{}" toName="t"/>'


def read(controls: str, answer: str = "") -> dict[str, Any]:
    """The schema's JSON."""
    view = f'<View><Header value="How is it?"/>{TEXT}{controls}</View>'
    return schema_from_studio(view, answer).to_json()


def test_choices_are_labels_by_what_results_hold() -> None:
    good = {"name": "good", "description": "Good: Glad"}
    found = {"task": "single", "question": "How is it?", "labels": [good, {"name": "bad"}]}
    assert read(CHOICES.format("single")) == found
    assert read(CHOICES.format("multiple")) == {**found, "task": "multi"}


@all_cases(
    ("controls", "task", "names"),
    [
        ('<Rating name="r" toName="t" maxRating="3"/>', "ordinal", ["1", "2", "3"]),
        ('<Number name="n" toName="t" min="0" max="1" step="0.5"/>', "ordinal", ["0", "0.5", "1"]),
        (AREA.format("answer"), "text", []),
        ('<Choices name="c" toName="t" value="$options"/>', "per_item", []),
        ('<Labels name="l" toName="t"><Label value="PER"/></Labels>', "multi", ["PER"]),
        (CHOICES.format("single") + AREA.format("rationale"), "single", ["good", "bad"]),
        (CHOICES.format("single") + '<TextArea name="x" toName="t" perRegion="true"/>', "single",
         ["good", "bad"]),
    ],
)  # fmt: skip
def test_every_control_that_asks(controls: str, task: str, names: list[str]) -> None:
    found = read(controls)
    assert (found["task"], [label["name"] for label in found["labels"]]) == (task, names)


def test_of_several_questions_one_is_chosen() -> None:
    both = CHOICES.format("single") + AREA.format("summary")
    with pytest.raises(SchemaError, match=r"\(mood, summary\); choose one"):
        read(both)
    assert read(both, "summary")["task"] == "text"


NESTED = '<Choices name="c" toName="t"><Choice value="a"><Choice value="b"/></Choice></Choices>'
BOMB = '<!DOCTYPE v [<!ENTITY a "aaaa">]><View>&a;</View>'


@all_cases(
    ("config", "words"),
    [
        ("", "is not XML"),
        ("<View>", "is not XML"),
        (BOMB, "is not XML that can be read"),
        ("<View/>", "its controls: none"),
        ('<View><Taxonomy name="x" toName="t"/></View>', "its controls: Taxonomy"),
        (f"<View>{NESTED}</View>", "choices inside"),
        ('<View><Rating name="r" toName="t" maxRating="x"/></View>', "must be a number"),
        ('<View><Rating name="r" toName="t" maxRating="1e9"/></View>', "2 to 200 points"),
        ('<View><Number name="r" toName="t" step="0"/></View>', "2 to 200 points"),
        ('<View><Choices name="c" toName="t"><Choice value="a"/></Choices></View>', "at least 2"),
    ],
)
def test_what_cannot_be_asked_here_is_said(config: str, words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        schema_from_studio(config)
