"""How a label counts moves from keys of its provenance into a column with a constraint."""

import json

from django.db import migrations, models

TABLE = "labels_label"
KEYS = ("aside", "learned", "advisory", "check", "adjudicates", "unclear", "unasked")
ROLES = [
    ("vote", "Counts for its annotator"),
    ("extra", "Given unasked: counts from experts only"),
    ("gold_question", "Answers a gold question: tells of the person alone"),
    ("adjudication", "Settles what others disagree on"),
    ("unclear", "Settles that it cannot be told"),
    ("advisory", "An author's word that decides nothing"),
    ("trained", "By a model trained on this project's gold: suggests nothing"),
    ("skip", "Left to others elsewhere"),
    ("draft", "Begun elsewhere"),
    ("empty", "Submitted elsewhere without an answer"),
]
#: What the keys of a role were. The version of a trained model stays, under another name.
KEYS_OF = {
    "extra": {"unasked": True},
    "gold_question": {"check": True},
    "adjudication": {"adjudicates": True},
    "unclear": {"adjudicates": True, "unclear": True},
    "advisory": {"advisory": True},
    "skip": {"aside": "skip"},
    "draft": {"aside": "draft"},
    "empty": {"aside": "empty"},
}
CHUNK = 2000


def role_of(kind, keys, *, withdrawn, abstained, supersedes):
    """How the rules of before took these keys; those that they did not heed for such a row fall
    away."""
    if withdrawn:
        if "aside" not in keys or supersedes:
            return "vote"
        return keys["aside"] if keys["aside"] in ("skip", "draft") else "empty"
    if kind in ("llm", "model"):
        return "trained" if "learned" in keys else "vote"
    if kind == "author":
        return "advisory" if keys.get("advisory") else "vote"
    if keys.get("check"):
        return "gold_question"
    if kind == "expert" and keys.get("adjudicates"):
        return "unclear" if abstained and keys.get("unclear") else "adjudication"
    return "extra" if keys.get("unasked") else "vote"


def take_roles(apps, schema_editor):
    """From keys to roles; rows without any of the keys are votes."""
    rows = apps.get_model("labels", "Label").objects.filter(provenance__has_any_keys=KEYS)
    fields = ("provenance", "annotator__kind", "withdrawn", "abstained", "supersedes")
    for chunk in chunks_of(rows, fields):
        written = []
        for pk, provenance, kind, withdrawn, abstained, supersedes in chunk:
            role = role_of(
                kind, provenance, withdrawn=withdrawn, abstained=abstained, supersedes=supersedes
            )
            kept = {key: value for key, value in provenance.items() if key not in KEYS}
            if role == "trained":
                kept["model_version"] = provenance["learned"]
            written.append((role, json.dumps(kept), pk))
        write(schema_editor, written)


def give_keys_back(apps, schema_editor):
    """From roles to keys."""
    rows = apps.get_model("labels", "Label").objects.exclude(role="vote")
    for chunk in chunks_of(rows, ("provenance", "role")):
        written = []
        for pk, provenance, role in chunk:
            keys = KEYS_OF.get(role) or {"learned": provenance.pop("model_version", True)}
            written.append(("vote", json.dumps({**provenance, **keys}), pk))
        write(schema_editor, written)


def chunks_of(rows, fields):
    """By id, so that no more than a chunk is ever held."""
    after = 0
    rows = rows.order_by("pk")
    while chunk := list(rows.filter(pk__gt=after).values_list("pk", *fields)[:CHUNK]):
        yield chunk
        after = chunk[-1][0]


def write(schema_editor, rows):
    with schema_editor.connection.cursor() as cursor:
        cursor.executemany("UPDATE labels_label SET role = %s, provenance = %s WHERE id = %s", rows)


def allow_updates(apps, schema_editor):
    """While this migration runs; SQLite makes a new table for a constraint and drops the trigger
    with the old one."""
    on = f" ON {TABLE}" if schema_editor.connection.vendor == "postgresql" else ""
    schema_editor.execute(f"DROP TRIGGER IF EXISTS {TABLE}_append_only{on}")


def forbid_updates(apps, schema_editor):
    """As the first migration does."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(
            f"CREATE TRIGGER {TABLE}_append_only BEFORE UPDATE ON {TABLE}"
            " FOR EACH ROW EXECUTE FUNCTION labelhub_append_only()"
        )
    elif schema_editor.connection.vendor == "sqlite":
        schema_editor.execute(
            f"CREATE TRIGGER {TABLE}_append_only BEFORE UPDATE ON {TABLE}"
            f" BEGIN SELECT RAISE(ABORT, 'rows of {TABLE} are append-only'); END"
        )


class Migration(migrations.Migration):

    dependencies = [("labels", "0001_initial")]

    operations = [
        migrations.RunPython(allow_updates, forbid_updates),
        migrations.AddField(
            model_name="label",
            name="role",
            field=models.CharField(choices=ROLES, default="vote", max_length=13),
        ),
        migrations.AddConstraint(
            model_name="label",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("role", "vote"),
                    models.Q(("role__in", ["extra", "gold_question", "adjudication", "advisory", "trained"]), ("withdrawn", False)),
                    models.Q(("abstained", True), ("role", "unclear"), ("withdrawn", False)),
                    models.Q(("role__in", ["skip", "draft", "empty"]), ("supersedes__isnull", True), ("withdrawn", True)),
                    _connector="OR",
                ),
                name="labels_label_role",
            ),
        ),
        migrations.AlterField(
            model_name="itemstate",
            name="priority",
            field=models.FloatField(default=0, help_text="Higher comes first."),
        ),
        migrations.RunPython(take_roles, give_keys_back),
        migrations.RunPython(forbid_updates, allow_updates),
    ]
