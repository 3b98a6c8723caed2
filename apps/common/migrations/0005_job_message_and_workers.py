from django.db import migrations, models

import apps.common.phrases


class Migration(migrations.Migration):

    dependencies = [
        ("common", "0004_audit"),
    ]

    operations = [
        migrations.CreateModel(
            name="WorkerProcess",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(help_text="Machine and process id.", max_length=100, unique=True)),
                ("queues", models.CharField(max_length=100)),
                ("seen_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.AddField(
            model_name="job",
            name="message",
            field=apps.common.phrases.PhraseField(blank=True, db_default="", default="", help_text="Why the last attempt did not end it."),
        ),
    ]
