from django.db import migrations, models
from django.db.models import F


def take_over(apps, schema_editor):
    """Runs at their times had their range until then."""
    jobs = apps.get_model("console", "Job").objects.filter(scheduled_for__isnull=False)
    jobs.exclude(state="queued").update(covers_until=F("scheduled_for"))
    jobs.filter(state="succeeded").update(is_whole=True)


class Migration(migrations.Migration):

    dependencies = [
        ('console', '0002_known_broker'),
    ]

    operations = [
        migrations.AddField(
            model_name='job',
            name='covers_until',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='job',
            name='deaths',
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='job',
            name='files_removed_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='job',
            name='is_whole',
            field=models.BooleanField(default=False),
        ),
        migrations.RunPython(take_over, migrations.RunPython.noop),
    ]
