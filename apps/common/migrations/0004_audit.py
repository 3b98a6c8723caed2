import django.db.models.deletion
from django.db import migrations, models

# What an entry says is never changed; its place in the chain is set once. Only entries before a
# recorded cut may be deleted.
CONTENT = (
    "id", "at", "actor_id", "via", "address", "request_id", "action", "project_id", "project",
    "subject_type", "subject_id", "subject_name", "subject_person_id", "changes",
)  # fmt: skip
KEPT = "{old}.number IS NULL OR {old}.number > COALESCE((SELECT MAX(number) FROM common_auditcut), 0)"
POSTGRES = f"""
CREATE OR REPLACE FUNCTION labelhub_audit_append_only() RETURNS trigger AS $$
BEGIN
  RAISE EXCEPTION 'rows of % are append-only', TG_TABLE_NAME;
END;
$$ LANGUAGE plpgsql;
CREATE OR REPLACE FUNCTION labelhub_audit_kept() RETURNS trigger AS $$
BEGIN
  IF {KEPT.format(old="OLD")} THEN
    RAISE EXCEPTION 'rows of % are append-only', TG_TABLE_NAME;
  END IF;
  RETURN OLD;
END;
$$ LANGUAGE plpgsql;
"""
#: Name, table, event, condition.
TRIGGERS = (
    ("common_auditentry_content", "common_auditentry", f"UPDATE OF {', '.join(CONTENT)}", ""),
    ("common_auditentry_chain", "common_auditentry", "UPDATE OF number, hash", "OLD.number IS NOT NULL"),
    ("common_auditentry_kept", "common_auditentry", "DELETE", KEPT.format(old="OLD")),
    ("common_auditcut_update", "common_auditcut", "UPDATE", ""),
    ("common_auditcut_delete", "common_auditcut", "DELETE", ""),
)


def create_triggers(apps, schema_editor):
    postgresql = schema_editor.connection.vendor == "postgresql"
    if postgresql:
        schema_editor.execute(POSTGRES, params=None)
    for name, table, event, given in TRIGGERS:
        function, condition = "labelhub_audit_append_only", given
        if postgresql and event == "DELETE" and condition:
            # A condition of a trigger may not read a table there, a function may.
            function, condition = "labelhub_audit_kept", ""
        when = f" WHEN ({condition})" if condition else ""
        body = (
            f" FOR EACH ROW{when} EXECUTE FUNCTION {function}()"
            if postgresql
            else f"{when} BEGIN SELECT RAISE(ABORT, 'rows of {table} are append-only'); END"
        )
        schema_editor.execute(f"CREATE TRIGGER {name} BEFORE {event} ON {table}{body}", params=None)


def drop_triggers(apps, schema_editor):
    postgresql = schema_editor.connection.vendor == "postgresql"
    for name, table, _event, _condition in TRIGGERS:
        schema_editor.execute(f"DROP TRIGGER IF EXISTS {name}{f' ON {table}' if postgresql else ''}")


class Migration(migrations.Migration):
    dependencies = [("common", "0003_idempotent_requests")]

    operations = [
        migrations.CreateModel(
            name="AuditCut",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveBigIntegerField()),
                ("hash", models.CharField(max_length=64)),
                ("at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="AuditPerson",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("user_id", models.PositiveBigIntegerField(db_index=True)),
                ("name", models.CharField(max_length=200)),
                ("key", models.CharField(blank=True, help_text="Empty once the person is erased.", max_length=44)),
                ("digest", models.CharField(max_length=64)),
            ],
            options={
                "constraints": [models.UniqueConstraint(condition=models.Q(("key", ""), _negated=True), fields=("user_id", "name"), name="common_auditperson_once")],
            },
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField()),
                ("via", models.CharField(blank=True, help_text="Key, command or job.", max_length=100)),
                ("address", models.TextField(blank=True, help_text="Encrypted with the key of the person.")),
                ("request_id", models.CharField(max_length=100, null=True)),
                ("action", models.CharField(max_length=40)),
                ("project_id", models.PositiveBigIntegerField(null=True)),
                ("project", models.CharField(blank=True, help_text="Its short name.", max_length=100)),
                ("subject_type", models.CharField(blank=True, max_length=40)),
                ("subject_id", models.CharField(blank=True, max_length=64)),
                ("subject_name", models.CharField(blank=True, max_length=200)),
                ("changes", models.JSONField(default=dict, help_text="Field → [old value, new value].")),
                ("number", models.PositiveBigIntegerField(null=True, unique=True)),
                ("hash", models.CharField(blank=True, max_length=64)),
                ("actor", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="common.auditperson")),
                ("subject_person", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="common.auditperson")),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [models.Index(fields=["project_id", "-id"], name="common_audit_project"), models.Index(fields=["action", "-id"], name="common_audit_action"), models.Index(fields=["subject_type", "subject_id", "-id"], name="common_audit_subject"), models.Index(fields=["at"], name="common_audit_at"), models.Index(condition=models.Q(("number", None)), fields=["id"], name="common_audit_unsealed")],
            },
        ),
        migrations.RunPython(create_triggers, drop_triggers),
    ]
