"""The database itself refuses to change a ledger row, whoever asks."""

from django.db import migrations

TABLES = ("labels_label", "labels_gold")

POSTGRES = """
CREATE OR REPLACE FUNCTION labelhub_append_only() RETURNS trigger AS $$
BEGIN
  RAISE EXCEPTION 'rows of % are append-only', TG_TABLE_NAME;
END;
$$ LANGUAGE plpgsql;
"""


def forbid_updates(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(POSTGRES, params=None)
        for table in TABLES:
            schema_editor.execute(
                f"CREATE TRIGGER {table}_append_only BEFORE UPDATE ON {table}"
                " FOR EACH ROW EXECUTE FUNCTION labelhub_append_only()"
            )
    elif schema_editor.connection.vendor == "sqlite":
        for table in TABLES:
            schema_editor.execute(
                f"CREATE TRIGGER {table}_append_only BEFORE UPDATE ON {table}"
                f" BEGIN SELECT RAISE(ABORT, 'rows of {table} are append-only'); END"
            )


def allow_updates(apps, schema_editor):
    on = {"postgresql": " ON {}", "sqlite": ""}.get(schema_editor.connection.vendor, "")
    for table in TABLES:
        schema_editor.execute(f"DROP TRIGGER IF EXISTS {table}_append_only" + on.format(table))


class Migration(migrations.Migration):
    dependencies = [("labels", "0001_initial")]

    operations = [migrations.RunPython(forbid_updates, allow_updates)]
