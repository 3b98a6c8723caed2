"""/projects/new/from/: question and labels out of a configuration, into the form of a project."""

import json

import pytest
from django.test import Client

from apps.projects.models import Project
from tests.cases import all_cases
from tests.factories.accounts import UserFactory

pytestmark = pytest.mark.django_db
URL = "/projects/new/from/"
STUDIO = """<View>
  <Header value="What is it about?"/>
  <Text name="text" value="$text"/>
  <Choices name="topic" toName="text" choice="single">
    <Choice value="Food"/><Choice value="&lt;b&gt;Price"/>
  </Choices>
</View>"""
TWO = """<View><Text name="text" value="$text"/>
  <Choices name="topic" toName="text"><Choice value="Food"/><Choice value="Price"/></Choices>
  <Choices name="mood" toName="text" choice="multiple">
    <Choice value="glad"/><Choice value="sad"/>
  </Choices></View>"""


@pytest.fixture
def maker(client: Client) -> Client:
    client.force_login(UserFactory.create())
    return client


def test_a_configuration_of_label_studio_fills_in_the_form(maker: Client) -> None:
    response = maker.post(URL, {"config": STUDIO})

    page = response.content.decode()
    assert response.status_code == 200
    assert 'action="/projects/new/"' in page
    assert 'value="Food"' in page
    assert 'value="&lt;b&gt;Price"' in page
    assert "What is it about?" in page
    assert response.context["form"]["task"].value() == "single"
    assert not Project.objects.exists()


def test_of_several_questions_one_is_chosen(maker: Client) -> None:
    asked = maker.post(URL, {"config": TWO})
    taken = maker.post(URL, {"config": TWO, "answer": " mood "})

    assert asked.status_code == 422
    assert "several questions (topic, mood)" in asked.content.decode()
    assert taken.context["taken"].names == ("glad", "sad")
    assert taken.context["form"]["task"].value() == "multi"


def test_an_overlong_name_of_a_question_is_refused_beside_it(maker: Client) -> None:
    response = maker.post(URL, {"config": TWO, "answer": "m" * 201})

    assert response.status_code == 422
    assert list(response.context["form"].errors) == ["answer"]


def test_a_schema_of_this_place_is_read_as_well(maker: Client) -> None:
    schema = {"task": "single", "labels": [{"name": "yes", "include": "nods"}, {"name": "no"}]}

    taken = maker.post(URL, {"config": json.dumps(schema)})

    assert taken.context["taken"].names == ("yes", "no")
    assert "nods" in taken.content.decode()


@all_cases(
    ("config", "words"),
    [
        ("", "this field is required"),
        ("labels: yes, no", "neither label studio"),
        ("<View>", "is not xml"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><View>&a;</View>', "is not xml"),
        ("<View/>", "it needs one of"),
        ("[" * 100_000, "neither label studio"),
        ("[1, 2]", "schema"),
        ('{"task": "single", "labels": []}', "label"),
    ],
)
def test_what_cannot_be_read_is_said_beside_it(maker: Client, config: str, words: str) -> None:
    response = maker.post(URL, {"config": config})

    assert response.status_code == 422
    assert words in response.context["form"].errors.as_text().lower()
    if config:
        assert response.context["form"]["config"].value() == config
