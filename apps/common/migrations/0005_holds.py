from django.db import migrations, models


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
            field=models.CharField(db_default="", max_length=20, unique=True),
        ),
    ]
