from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("llm", "0003_project_providers"),
    ]

    operations = [
        migrations.AddField(
            model_name="provider",
            name="test_failed",
            field=models.BooleanField(default=False, editable=False, help_text="Saved although its test failed: nothing takes its models by default."),
        ),
    ]
