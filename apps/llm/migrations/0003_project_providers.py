import django.db.models.deletion
from django.db import migrations, models


def name_text_matcher(apps, schema_editor):
    apps.get_model("llm", "Provider").objects.filter(kind="offline").update(
        name="Text matcher (demo)"
    )


class Migration(migrations.Migration):

    dependencies = [
        ("llm", "0002_azure_endpoints"),
        ("projects", "0002_jobs"),
    ]

    operations = [
        migrations.AddField(
            model_name="provider",
            name="key_changed_at",
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name="provider",
            name="preset",
            field=models.CharField(blank=True, help_text="See apps/llm/presets.toml.", max_length=20),
        ),
        migrations.AddField(
            model_name="provider",
            name="project",
            field=models.ForeignKey(blank=True, help_text="The only project that may use it; empty = shared by all.", null=True, on_delete=django.db.models.deletion.CASCADE, related_name="providers", to="projects.project"),
        ),
        migrations.AddField(
            model_name="provider",
            name="removed_at",
            field=models.DateTimeField(editable=False, help_text="Kept for the runs that used it, offered no more.", null=True),
        ),
        migrations.AddField(
            model_name="provider",
            name="sealed_key",
            field=models.BinaryField(null=True),
        ),
        migrations.AlterField(
            model_name="provider",
            name="kind",
            field=models.CharField(choices=[("openai", "OpenAI-compatible endpoint"), ("azure", "Azure OpenAI resource"), ("offline", "Text matcher (demo)")], default="openai", max_length=10),
        ),
        migrations.AlterField(
            model_name="provider",
            name="name",
            field=models.CharField(max_length=100),
        ),
        migrations.AddConstraint(
            model_name="provider",
            constraint=models.UniqueConstraint(condition=models.Q(("removed_at__isnull", True)), fields=("project", "name"), name="llm_provider_once", violation_error_message="There is already a provider of this name."),
        ),
        migrations.AddConstraint(
            model_name="provider",
            constraint=models.UniqueConstraint(condition=models.Q(("project__isnull", True), ("removed_at__isnull", True)), fields=("name",), name="llm_shared_provider_once", violation_error_message="There is already a provider of this name."),
        ),
        migrations.AddConstraint(
            model_name="provider",
            constraint=models.CheckConstraint(condition=models.Q(("project__isnull", True), ("api_key_env", ""), _connector="OR"), name="llm_variables_are_operators", violation_error_message="Only operators may name an environment variable."),
        ),
        migrations.RunPython(name_text_matcher, migrations.RunPython.noop),
    ]
