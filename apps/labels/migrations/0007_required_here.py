from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("labels", "0006_rulings_index")]

    operations = [
        migrations.AddField(
            "itemstate",
            "required_here",
            models.PositiveSmallIntegerField(
                default=1,
                help_text="Labels by people here, not imported, without which people decide nothing.",
            ),
        ),
    ]
