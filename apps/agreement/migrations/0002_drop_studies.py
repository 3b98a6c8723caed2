"""Predictivity is an experiment: its own tables go."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("agreement", "0001_initial")]

    operations = [
        migrations.DeleteModel("Prediction"),
        migrations.DeleteModel("Study"),
    ]
