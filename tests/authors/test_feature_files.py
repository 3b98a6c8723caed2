"""Features from a file: all of them, or none and what is wrong in which row."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.authors.models import Site
from apps.authors.services.features import MOST_BYTES, Imported, import_features
from labelhub.core.errors import InvalidInput
from labelhub.core.interview.features import parse_feature, starter_library
from tests.authors.api.calling import url
from tests.authors.pages.reading import page, words
from tests.cases import all_cases
from tests.common.openapi import assert_matches_schema
from tests.factories.accounts import api_of

pytestmark = pytest.mark.django_db
HEAD = "key,name,definition,answer,values,bounds,unit,applies,hint,cues,always,prior\n"
TABLE = (
    HEAD + "eco,Green,How green it is.,choice,not at all;rather;very,,,"
    "It is sold.,Ask.,eco; green,,0.5\n"
    "sum,Sum,The most to spend.,number,,25;50;99.5,USD,,,,,\n"
    "\n"
    "given,Gift,Whether it is a gift.,yes_no,,,,,,,yes,\n"
    "look,Look,The look.,WORD,,,,,,,,-1\n"
)  # fmt: skip

OWN = {"key": "mood", "name": "Mood", "definition": "How they feel.", "answer": "word"}


def imported(site: Site, text: str | bytes, name: str = "features.csv") -> Imported:
    return import_features(
        site=site, name=name, data=text.encode() if isinstance(text, str) else text
    )


def definitions(site: Site) -> dict[str, Any]:
    """What the site asks about, by key."""
    return {row.key: row.definition for row in site.features.asked()}


def faults(site: Site, text: str | bytes, name: str = "features.csv") -> list[dict[str, Any]]:
    before = list(site.features.values_list("key", "definition", "position", "active"))
    with pytest.raises(InvalidInput) as caught:
        imported(site, text, name)
    after = list(site.features.values_list("key", "definition", "position", "active"))
    assert before == after
    found: list[dict[str, Any]] = caught.value.data["errors"]
    return found


@pytest.mark.parametrize("delimiter", [",", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_table_is_read(site: Site, delimiter: str, encoding: str, line_end: str) -> None:
    text = TABLE.replace(",", delimiter).replace("\n", line_end)
    before = [row.key for row in site.features.asked()]
    assert imported(site, text.encode(encoding)) == Imported(4, 0)
    rows = list(site.features.asked())
    assert [row.key for row in rows] == [*before, "eco", "sum", "given", "look"]
    eco, money, gift, look = (row.parsed for row in rows[-4:])
    assert (eco.values, eco.cues) == (("not at all", "rather", "very"), ("eco", "green"))
    assert (eco.prior, eco.applies, eco.hint) == (0.5, "It is sold.", "Ask.")
    assert (money.bounds, money.unit, money.ordinal) == ((25, 50, 99.5), "USD", True)
    assert (gift.answer, gift.always) == ("yes_no", True)
    assert (look.answer, look.prior) == ("word", -1)


def test_a_known_key_keeps_its_place_and_what_the_table_does_not_say(site: Site) -> None:
    old = site.features.get(key="urgency").parsed
    text = (
        "key,name,definition,answer,values\n"
        f"urgency,Hurry,How hurried it was.,choice,{';'.join(old.values)}\n"
    )
    assert imported(site, text) == Imported(0, 1)
    new = site.features.get(key="urgency").parsed
    assert (new.name, new.definition) == ("Hurry", "How hurried it was.")
    assert (new.templates, new.meanings, new.ordinal, new.cues) == (
        old.templates, old.meanings, True, old.cues,
    )  # fmt: skip
    assert [row.key for row in site.features.asked()][1] == "urgency"


@pytest.mark.parametrize("wrapped", [False, True])
def test_json_holds_whole_definitions(site: Site, wrapped: bool) -> None:
    rows = [feature.to_json() for feature in starter_library()["emotion"]]
    text = json.dumps({"features": rows} if wrapped else rows)
    assert imported(site, text, "emotion.JSON") == Imported(len(rows), 0)


def test_every_row_with_a_fault_is_told(site: Site) -> None:
    text = TABLE + (
        "Bad Key,Name,It is.,choice,,,,,,,,\n"
        "eco,Name,It is.,word,,,,,,,,\n"
        "few,Name,It is.,choice,one,,,,,,,\n"
        "sum2,Name,It is.,number,,10;ten,,,,,,\n"
        "when,Name,It is.,sometimes,,,,,,,perhaps,\n"
        "how,Name,It is.,word,,,,,,,perhaps,much\n"
    )
    result = [(fault["row"], fault["field"].split(".", 2)[2]) for fault in faults(site, text)]
    assert result == [
        (7, "key"), (8, "key"), (9, "values"), (10, "bounds"), (11, "answer"), (12, "always"),
    ]  # fmt: skip


@all_cases(
    ("text", "name", "field", "row"),
    [
        ("", "a.csv", "key", 1),
        ("key,name\n", "a.csv", "definition", 1),
        (HEAD.replace("hint", "colour"), "a.csv", "colour", 1),
        ("key,name,definition,key\n", "a.csv", "", 1),
        ("key,name,definition\na,b,c,d\n", "a.csv", "", 2),
        ('key,name,definition\na,"b,c\n', "a.csv", "file", None),
        (HEAD, "a.csv", "features", None),
        (b"key,name\xff", "a.csv", "file", None),
        (b"x" * (MOST_BYTES + 1), "a.csv", "file", None),
        ("[", "a.json", "file", None),
        ("[" * 100_000, "a.json", "file", None),
        ("{}", "a.json", "file", None),
        ("[]", "a.json", "features", None),
        ("[7]", "a.json", "features.0", 1),
        (json.dumps([OWN | {"name": "a\0"}]), "a.json", "features.0.name", 1),
        (json.dumps([{}] * 1001), "a.json", "features", None),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_refused_where_it_is_wrong(
    site: Site, text: str | bytes, name: str, field: str, row: int | None
) -> None:
    (fault,) = faults(site, text, name)
    assert (fault["field"], fault.get("row")) == (field, row)


@pytest.mark.thorough
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.binary(max_size=300) | st.text(max_size=200).map(lambda text: (HEAD + text).encode()))
@pytest.mark.parametrize("name", ["a.csv", "a.json"])
def test_no_file_does_worse_than_being_refused(site: Site, name: str, data: bytes) -> None:
    before = definitions(site)
    made: Imported | None = None
    result: list[dict[str, Any]] = []
    try:
        made = imported(site, data, name)
    except InvalidInput as refused:
        result = refused.data["errors"]
    after = definitions(site)
    if made is None:
        assert after == before
        assert result
        assert all(item["field"] or item["row"] for item in result)
    else:
        assert before.keys() <= after.keys()
        assert len(after) == len(before) + made.added
        assert made.added + made.changed >= 1


def test_a_file_is_uploaded_on_the_page(admin_client: Client, site: Site) -> None:
    address = page(site, "questions/import/")
    assert "unit" in words(admin_client.get(address))
    file = SimpleUploadedFile("features.csv", TABLE.encode())
    response = admin_client.post(address, {"file": file})
    assert response.headers["Location"] == page(site, "questions/")
    assert site.features.asked().last() == site.features.get(key="look")


def test_features_are_added_over_rest(site: Site, admin_user: Any) -> None:
    client = api_of(admin_user)
    response = client.post(url(site, "features/"), [OWN], format="json")
    assert_matches_schema(response, "POST", "/api/v1/sites/{public_key}/features/")
    assert response.json() == {"added": 1, "changed": 0}
    again = client.post(url(site, "features/"), {"set": "shopping"}, format="json").json()
    assert again == {"added": 0, "changed": len(starter_library()["shopping"])}
    table = client.post(url(site, "features/"), TABLE.encode(), content_type="text/csv")
    assert table.json() == {"added": 4, "changed": 0}
    assert parse_feature(site.features.get(key="sum").definition).bounds == (25, 50, 99.5)


def test_the_page_lists_rows_fields_and_reasons(admin_client: Client, site: Site) -> None:
    file = SimpleUploadedFile(
        "features.csv", (TABLE + "few,<b>,It is.,choice,one,,,,,,,\n").encode()
    )
    response = admin_client.post(page(site, "questions/import/"), {"file": file})
    assert response.status_code == 422
    shown = words(response)
    assert "Nothing was imported." in shown
    assert "7 values must be at least 2" in shown
    assert not site.features.filter(key="eco").exists()
