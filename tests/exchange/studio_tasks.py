"""Label Studio's exports, made up: what its plain JSON export has, with predictions embedded."""

from typing import Any, TypeAlias
from unicodedata import category

from hypothesis import strategies as st

from labelhub.core.schema.tasks.base import UNSEEN

Drawn: TypeAlias = st.SearchStrategy[Any]

WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
#: Somebody can see them; others are no answer.
TEXTS = WORDS.filter(lambda text: any(category(sign) not in UNSEEN for sign in text))
USERS = st.sampled_from([1, 2, {"id": 3, "email": "c@example.org"}, {"email": "d@example.org"}])
MOMENTS = st.sampled_from(["2024-05-01T08:00:00.123456Z", "2025-01-31T23:59:59Z"])
SECONDS = st.none() | st.floats(0, 1e4)
NAMES = ["good", "bad"]
ANSWERS: dict[str, tuple[str, Drawn]] = {
    "single": ("choices", st.sampled_from(NAMES).map(lambda name: {"choices": [name]})),
    "multi": (
        "choices",
        st.lists(st.sampled_from(NAMES), unique=True).map(lambda names: {"choices": names}),
    ),
    "ordinal": ("rating", st.integers(1, 5).map(lambda stars: {"rating": stars})),
    "text": (
        "textarea",
        st.lists(TEXTS, min_size=1, max_size=2).map(lambda texts: {"text": texts}),
    ),
}
DEFINITIONS: dict[str, Any] = {
    "single": {"task": "single", "labels": NAMES},
    "multi": {"task": "multi", "labels": NAMES},
    "ordinal": {"task": "ordinal", "labels": ["1", "2", "3", "4", "5"]},
    "text": {"task": "text"},
}
CONFIGS = {
    "single": '<Choices name="mood" toName="body" choice="single-radio">{choices}</Choices>',
    "multi": '<Choices name="mood" toName="body" choice="multiple">{choices}</Choices>',
    "ordinal": '<Rating name="mood" toName="body" maxRating="5"/>',
    "text": '<TextArea name="mood" toName="body"/>',
}


def config_of(task: str) -> str:
    """The configuration of a project there."""
    choices = "".join(f'<Choice value="{name}"/>' for name in NAMES)
    return (
        f'<View><Text name="body" value="$review"/>{CONFIGS[task].format(choices=choices)}</View>'
    )


@st.composite
def results(draw: st.DrawFn, task: str, text: str) -> list[dict[str, Any]]:
    """An answer, quotes, and words beside."""
    kind, values = ANSWERS[task]
    made: list[dict[str, Any]] = []
    if draw(st.integers(0, 4)):
        made.append(_result("mood", kind, draw(values)))
    for _ in range(draw(st.integers(0, 2)) if task != "ordinal" else 0):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, len(text)))
        value = {"start": start, "end": end, "text": text[start:end],
                 "labels": [draw(st.sampled_from(NAMES))]}  # fmt: skip
        made.append(_result("quotes", "labels", value))
    if draw(st.booleans()):
        made.append(_result("rationale", "textarea", {"text": [draw(TEXTS)]}))
    return [{**result, "id": draw(st.text("abc123", min_size=4, max_size=9))} for result in made]


def _result(name: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"from_name": name, "to_name": "body", "type": kind, "value": value,
            "origin": "manual"}  # fmt: skip


@st.composite
def tasks(draw: st.DrawFn, task: str) -> dict[str, Any]:
    """One task with everything an export of it has; ids are its own."""
    text = draw(TEXTS)
    predictions = [
        {"id": number, "model_version": draw(st.sampled_from(["m1", "m2"])),
         "score": draw(st.none() | st.floats(0, 1)), "cluster": None,
         "result": draw(results(task, text)), "created_at": draw(MOMENTS)}
        for number in range(draw(st.integers(0, 2)))
    ]  # fmt: skip
    annotations = []
    for number in range(draw(st.integers(0, 3))):
        cancelled = draw(st.integers(0, 4)) == 0
        annotations.append(
            {"id": 100 + number, "completed_by": draw(USERS), "was_cancelled": cancelled,
             "ground_truth": not cancelled and draw(st.booleans()), "lead_time": draw(SECONDS),
             "created_at": draw(MOMENTS), "updated_at": draw(MOMENTS), "prediction": {},
             "unique_id": str(draw(st.uuids())), "result_count": 1, "last_action": None,
             "parent_prediction": draw(st.sampled_from([None, *range(len(predictions))])),
             "parent_annotation": draw(st.sampled_from([None, *range(100, 100 + number)])),
             "result": draw(results(task, text))}
        )  # fmt: skip
    data = {"review": text, "lang": draw(WORDS), "stars": draw(st.integers(0, 5))}
    skipped = sum(annotation["was_cancelled"] for annotation in annotations)
    drafts = [{"id": 7, "user": "e@example.org", "result": draw(results(task, text)),
               "lead_time": 1.5, "annotation": None}]  # fmt: skip
    return {
        "data": data,
        "meta": draw(st.dictionaries(TEXTS.map(lambda word: f"m{word}"), WORDS, max_size=2)),
        "predictions": predictions,
        "annotations": annotations,
        "drafts": drafts if draw(st.booleans()) else [],
        "inner_id": 1,
        "allow_skip": draw(st.booleans()),
        "created_at": draw(MOMENTS),
        "file_upload": "a-b.json",
        "total_annotations": len(annotations) - skipped,
        "cancelled_annotations": skipped,
        "total_predictions": len(predictions),
    }
