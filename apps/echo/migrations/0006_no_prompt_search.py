from typing import Any

from django.db import migrations


def forget_jobs(apps: Any, _schema_editor: Any) -> None:
    """Searches under way end; no worker knows their kind of job any more."""
    apps.get_model("common", "Job").objects.filter(kind="echo.search").delete()


class Migration(migrations.Migration):
    dependencies = [("common", "0002_jobs"), ("echo", "0005_offer_words")]

    operations = [
        migrations.RunPython(forget_jobs, migrations.RunPython.noop, elidable=True),
        migrations.DeleteModel("SearchReply"),
        migrations.DeleteModel("PromptSearch"),
        migrations.RemoveField("echo", "search_on"),
        migrations.RemoveField("echo", "search_calls_per_day"),
        migrations.RemoveField("echo", "search_day"),
        migrations.RemoveField("echo", "search_calls"),
    ]
