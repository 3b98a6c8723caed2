import uuid

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

LEDGERS = ("labels_label", "labels_gold")

POSTGRES = """
CREATE OR REPLACE FUNCTION labelhub_append_only() RETURNS trigger AS $$
BEGIN
  RAISE EXCEPTION 'rows of % are append-only', TG_TABLE_NAME;
END;
$$ LANGUAGE plpgsql;
"""


def forbid_updates(apps, schema_editor):
    """The database itself refuses to change a ledger row, whoever asks."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(POSTGRES, params=None)
        for table in LEDGERS:
            schema_editor.execute(
                f"CREATE TRIGGER {table}_append_only BEFORE UPDATE ON {table}"
                " FOR EACH ROW EXECUTE FUNCTION labelhub_append_only()"
            )
    elif schema_editor.connection.vendor == "sqlite":
        for table in LEDGERS:
            schema_editor.execute(
                f"CREATE TRIGGER {table}_append_only BEFORE UPDATE ON {table}"
                f" BEGIN SELECT RAISE(ABORT, 'rows of {table} are append-only'); END"
            )


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
        ("projects", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Annotator",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="annotators", to="projects.project")),
                ("kind", models.CharField(choices=[("llm", "LLM"), ("crowd", "Crowd"), ("expert", "Expert"), ("author", "Author"), ("model", "Model")], max_length=10)),
                ("name", models.CharField(max_length=200)),
                ("user", models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="annotators", to=settings.AUTH_USER_MODEL)),
                ("claimed", models.BooleanField(default=False, help_text="Is or was a user's; nobody else's, even once they are deleted.")),
                ("offline", models.BooleanField(default=False, help_text="The built-in text matcher: not an LLM.")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [models.UniqueConstraint(fields=("project", "kind", "name"), name="labels_annotator_once")],
            },
        ),
        migrations.CreateModel(
            name="Assignment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("item", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="assignments", to="projects.item")),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="projects.project")),
                ("user", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="assignments", to=settings.AUTH_USER_MODEL)),
                ("open", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "indexes": [models.Index(condition=models.Q(("open", True)), fields=["project", "user", "item"], name="labels_assignment_open")],
                "constraints": [models.UniqueConstraint(fields=("item", "user"), name="labels_assignment_once")],
            },
        ),
        migrations.CreateModel(
            name="Gold",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uid", models.UUIDField(default=uuid.uuid4, editable=False)),
                ("item", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="golds", to="projects.item")),
                ("schema", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="projects.labelschema")),
                ("value", models.JSONField(null=True)),
                ("withdrawn", models.BooleanField(default=False)),
                ("basis", models.CharField(choices=[("review", "Decided by a reviewer"), ("agreement", "Reviewers agree"), ("adjudication", "Decided by an expert"), ("author", "Said by the author"), ("imported", "Imported with the item"), ("withdrawn", "Withdrawn")], max_length=12)),
                ("decided_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name="golds", to="labels.annotator")),
                ("evidence", models.JSONField(blank=True, default=list, help_text="uids of the labels it rests on.")),
                ("change", models.ForeignKey(db_index=False, help_text="The change of labels that carried it over, or made or unmade it.", null=True, on_delete=django.db.models.deletion.RESTRICT, related_name="+", to="projects.schemachange")),
                ("supersedes", models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name="superseded_by", to="labels.gold")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "verbose_name_plural": "gold",
                "ordering": ["pk"],
                "constraints": [models.UniqueConstraint(fields=("item", "uid"), name="labels_gold_uid_once"), models.UniqueConstraint(condition=models.Q(("supersedes__isnull", True)), fields=("item",), name="labels_gold_one_chain")],
            },
        ),
        migrations.CreateModel(
            name="Label",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uid", models.UUIDField(default=uuid.uuid4, editable=False)),
                ("item", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="labels", to="projects.item")),
                ("annotator", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="labels", to="labels.annotator")),
                ("schema", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="projects.labelschema")),
                ("value", models.JSONField(null=True)),
                ("abstained", models.BooleanField(default=False)),
                ("withdrawn", models.BooleanField(default=False)),
                ("rejected", models.BooleanField(default=False, help_text="Says only that the suggestion is wrong: no answer, no abstention.")),
                ("action", models.CharField(choices=[("new", "Labelled without a suggestion"), ("accepted", "Accepted the suggestion"), ("fixed", "Fixed the suggestion"), ("rejected", "Rejected the suggestion"), ("proposed", "Proposed by a debate"), ("imported", "Imported"), ("withdrawn", "Withdrawn")], max_length=10)),
                ("confidence", models.FloatField(help_text="0 to 1, as stated by the annotator.", null=True)),
                ("rationale", models.TextField(blank=True)),
                ("evidence", models.JSONField(blank=True, default=dict, help_text="Label name → quoted phrases.")),
                ("seconds", models.FloatField(help_text="Time the annotator took.", null=True)),
                ("cost_nanousd", models.BigIntegerField(null=True)),
                ("proposed_from", models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name="led_to", to="labels.label")),
                ("shown", models.ForeignKey(db_index=False, help_text="The suggestion on the screen when they answered, whatever they answered.", null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="labels.label")),
                ("supersedes", models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name="superseded_by", to="labels.label")),
                ("change", models.ForeignKey(db_index=False, help_text="The change of labels that carried it over; it says what its predecessor said.", null=True, on_delete=django.db.models.deletion.RESTRICT, related_name="+", to="projects.schemachange")),
                ("run_uid", models.UUIDField(db_index=True, help_text="The run that proposed it.", null=True)),
                ("replicate", models.PositiveSmallIntegerField(default=1)),
                ("provenance", models.JSONField(blank=True, default=dict, help_text="Protocol, models, prompt hashes, guideline version, comment.")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "ordering": ["pk"],
                "indexes": [models.Index(condition=models.Q(("seconds__isnull", False), ("cost_nanousd__isnull", False), _connector="OR"), fields=["annotator", "withdrawn", "rejected", "seconds", "cost_nanousd"], name="labels_label_paid"), models.Index(condition=models.Q(("confidence__isnull", False)), fields=["annotator"], name="labels_label_confidence"), models.Index(condition=models.Q(("change__isnull", False)), fields=["change"], name="labels_label_change"), models.Index(condition=models.Q(("shown__isnull", False)), fields=["shown"], name="labels_label_shown"), models.Index(condition=models.Q(("rejected", True)), fields=["annotator"], name="labels_label_rejected")],
                "constraints": [models.UniqueConstraint(fields=("item", "uid"), name="labels_label_uid_once"), models.CheckConstraint(condition=models.Q(("rejected", False), models.Q(("abstained", False), ("shown__isnull", False), ("value__isnull", True), ("withdrawn", False)), _connector="OR"), name="labels_label_rejection")],
            },
        ),
        migrations.CreateModel(
            name="ItemState",
            fields=[
                ("item", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name="state", serialize=False, to="projects.item")),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="projects.project")),
                ("stage", models.CharField(choices=[("new", "Not labelled yet"), ("suggested", "Labelled by a debate"), ("in_review", "Labelled by people, not decided"), ("conflict", "Reviewers disagree"), ("decided", "Decided"), ("unclear", "Cannot be told")], default="new", max_length=10)),
                ("queued", models.BooleanField(default=True, help_text="Wants a person's label.")),
                ("priority", models.FloatField(default=0, help_text="Higher comes first; see services.ordering.")),
                ("labels_by_people", models.PositiveIntegerField(default=0, help_text="Current labels of crowd and experts.")),
                ("wanted", models.PositiveIntegerField(default=1, help_text="How many of those are wanted by now.")),
                ("suggestion", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="labels.label")),
                ("gold", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="labels.gold")),
                ("reasons", models.JSONField(blank=True, default=list, help_text="Why the debate sent it to people first.")),
                ("assigned_kind", models.CharField(blank=True, help_text="The one kind of people it is for; empty: any.", max_length=10)),
                ("assignees", models.JSONField(blank=True, default=list, help_text="Users it was given to by name; see Assignment.")),
                ("audience", models.CharField(blank=True, choices=[("crowd", "Crowd"), ("expert", "Experts"), ("named", "Only those it was given to")], help_text="Who may be offered it now; empty: everybody.", max_length=10)),
                ("kept", models.PositiveSmallIntegerField(default=0, help_text="Places kept for those of the assignees who have not labelled it.")),
                ("known", models.BooleanField(default=False, help_text="Its answer is known: people can be checked by it.")),
                ("promoted", models.BooleanField(default=False, help_text="A manager put it first.")),
                ("disputed", models.BooleanField(default=False, help_text="Decided, but a machine that is sure says otherwise.")),
                ("learned", models.FloatField(help_text="0 to 1: how unsure the trained model is, or contradicts the debate.", null=True)),
                ("signals", models.JSONField(blank=True, default=dict)),
                ("updated_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "indexes": [models.Index(condition=models.Q(("queued", True)), fields=["project", "audience", "-priority", "item"], name="labels_state_offered"), models.Index(condition=models.Q(("known", True)), fields=["project", "item"], name="labels_state_known"), models.Index(fields=["project", "stage"], name="labels_state_stage")],
            },
        ),
        migrations.RunPython(forbid_updates, migrations.RunPython.noop),
    ]
