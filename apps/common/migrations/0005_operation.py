from django.db import migrations, models

import apps.common.phrases


class Migration(migrations.Migration):
    dependencies = [("common", "0004_audit")]

    operations = [
        migrations.CreateModel(
            name="Hold",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("since", models.DateTimeField()),
            ],
        ),
        migrations.AddField(
            model_name="workersign",
            name="queue",
            field=models.CharField(db_default="", max_length=20),
        ),
        migrations.AddField(
            model_name="workersign",
            name="process",
            field=models.CharField(db_default="", help_text="Machine and process id.", max_length=100),
        ),
        migrations.AddConstraint(
            model_name="workersign",
            constraint=models.UniqueConstraint(fields=("queue", "process"), name="common_workersign_once"),
        ),
        migrations.AddField(
            model_name="job",
            name="message",
            field=apps.common.phrases.PhraseField(blank=True, db_default="", default="", help_text="Why the last attempt did not end it."),
        ),
    ]
