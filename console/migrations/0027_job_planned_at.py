from django.db import migrations, models
from django.db.models import F


def note(apps, schema_editor):
    """Only a job that ran once is known to have made its plan in its latest run; of the others nobody noted when."""
    apps.get_model('console', 'Job').objects.filter(attempt=1).update(planned_at=F('started_at'))


class Migration(migrations.Migration):

    dependencies = [
        ('console', '0026_job_none_written'),
    ]

    operations = [
        migrations.AddField('job', 'planned_at', models.DateTimeField(null=True)),
        migrations.RunPython(note, migrations.RunPython.noop),
    ]
