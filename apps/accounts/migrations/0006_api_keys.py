import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0005_sign_in"),
        ("projects", "0006_import_results"),
    ]

    operations = [
        migrations.AlterModelOptions(name="apikey", options={"ordering": ["-created_at", "-pk"]}),
        migrations.AddField(
            model_name="apikey",
            name="expires_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="apikey",
            name="project",
            field=models.ForeignKey(
                blank=True,
                help_text="The only project that it opens; empty: all of its owner's.",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="projects.project",
            ),
        ),
        migrations.AlterField(
            model_name="apikey",
            name="scope",
            field=models.CharField(
                choices=[
                    ("read", "Read"),
                    ("label", "Read and label"),
                    ("write", "Read and write"),
                    ("admin", "Operate the server"),
                ],
                default="write",
                max_length=5,
            ),
        ),
    ]
