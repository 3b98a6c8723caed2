from importlib import import_module
from typing import Any

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Count, F

#: The database refuses to change a ledger row; and SQLite makes the table, and with it what refuses
#: that, anew for a column.
append_only = import_module("apps.labels.migrations.0002_append_only")
PEOPLE = ("crowd", "expert")


def tell_rejections_apart(apps: Any, editor: Any) -> None:
    """What a label was proposed from was shown. A rejection without a value was stored as an
    abstention; its item waits for somebody else now, unless it has been decided: that stands until
    the plan changes or somebody labels the item again."""
    labels, states = apps.get_model("labels", "Label"), apps.get_model("labels", "ItemState")
    check_at_once(editor)
    proposed = labels.objects.filter(shown=None, proposed_from__isnull=False)
    proposed.update(shown=F("proposed_from"))
    rejections = labels.objects.filter(
        action="rejected", value__isnull=True, abstained=True, withdrawn=False, shown__isnull=False
    )
    counted = rejections.filter(superseded_by=None, annotator__kind__in=PEOPLE).order_by()
    by_item = dict(counted.values_list("item").annotate(n=Count("pk")))
    rejections.update(rejected=True, abstained=False, proposed_from=None)
    for state in states.objects.filter(pk__in=list(by_item)).select_related("project"):
        state.labels_by_people -= by_item[state.pk]
        is_open = state.gold_id is None and state.stage in ("in_review", "conflict")
        if is_open and state.labels_by_people < state.project.overlap:
            untouched = "suggested" if state.suggestion_id else "new"
            state.stage = "in_review" if state.labels_by_people else untouched
            state.wanted, state.queued = state.project.overlap, True
            state.audience = "expert" if state.assigned_kind == "expert" else ""
        state.save()


def tell_them_as_abstentions(apps: Any, editor: Any) -> None:
    """As it was: who rejects abstains."""
    check_at_once(editor)
    rejections = apps.get_model("labels", "Label").objects.filter(rejected=True)
    rejections.update(rejected=False, abstained=True, proposed_from=F("shown"))


def check_at_once(editor: Any) -> None:
    """References are checked at the end of the transaction otherwise, and until then PostgreSQL
    does not change the table."""
    if editor.connection.vendor == "postgresql":
        editor.execute("SET CONSTRAINTS ALL IMMEDIATE")


class Migration(migrations.Migration):
    dependencies = [
        ("labels", "0007_unclear"),
        ("projects", "0004_schema_changes"),
    ]

    operations = [
        migrations.RunPython(append_only.allow_updates, append_only.forbid_updates),
        migrations.RemoveIndex(
            model_name="label",
            name="labels_label_paid",
        ),
        migrations.AddField(
            model_name="label",
            name="rejected",
            field=models.BooleanField(
                default=False,
                help_text="Says only that the suggestion is wrong: no answer, no abstention.",
            ),
        ),
        migrations.AddField(
            model_name="label",
            name="shown",
            field=models.ForeignKey(
                db_index=False,
                help_text="The suggestion on the screen when they answered, whatever they answered.",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="labels.label",
            ),
        ),
        migrations.AddIndex(
            model_name="label",
            index=models.Index(
                condition=models.Q(
                    ("seconds__isnull", False), ("cost_nanousd__isnull", False), _connector="OR"
                ),
                fields=["annotator", "withdrawn", "rejected", "seconds", "cost_nanousd"],
                name="labels_label_paid",
            ),
        ),
        migrations.AddIndex(
            model_name="label",
            index=models.Index(
                condition=models.Q(("shown__isnull", False)),
                fields=["shown"],
                name="labels_label_shown",
            ),
        ),
        migrations.AddIndex(
            model_name="label",
            index=models.Index(
                condition=models.Q(("rejected", True)),
                fields=["annotator"],
                name="labels_label_rejected",
            ),
        ),
        migrations.RunPython(tell_rejections_apart, tell_them_as_abstentions),
        migrations.AddConstraint(
            model_name="label",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("rejected", False),
                    models.Q(
                        ("abstained", False),
                        ("shown__isnull", False),
                        ("value__isnull", True),
                        ("withdrawn", False),
                    ),
                    _connector="OR",
                ),
                name="labels_label_rejection",
            ),
        ),
        migrations.RunPython(append_only.forbid_updates, append_only.allow_updates),
    ]
