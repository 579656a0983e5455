from django.conf import settings
from django.db import migrations, models
from django.db.models import F


def take_over(apps, schema_editor):
    """Jobs of earlier releases run by the rights of who made them; which token did is not known."""
    apps.get_model('console', 'Job').objects.update(started_by=F('created_by'))


class Migration(migrations.Migration):

    dependencies = [
        ('console', '0021_job_state_code'),
    ]

    operations = [
        migrations.AlterField(
            model_name='job',
            name='state_code',
            field=models.CharField(choices=[('request_refused', 'Request Refused'), ('rights_lost', 'Rights Lost'), ('no_java', 'No Java'), ('broker_unreachable', 'Broker Unreachable'), ('store_unreadable', 'Store Unreadable'), ('messages_gone', 'Messages Gone'), ('damaged_record', 'Damaged Record'), ('not_sent', 'Not Sent'), ('program_killed', 'Program Killed'), ('program_failed', 'Program Failed'), ('launcher_failed', 'Launcher Failed'), ('worker_lost', 'Worker Lost'), ('worker_stopped', 'Worker Stopped'), ('some_failed', 'Some Failed'), ('some_damaged', 'Some Damaged'), ('store_faults', 'Store Faults'), ('cancelled', 'Cancelled'), ('paused', 'Paused')], max_length=32, null=True),
        ),
        migrations.AddField('job', 'started_by', models.ForeignKey(
            settings.AUTH_USER_MODEL, null=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name='+',
        )),
        migrations.AddField('job', 'token_key', models.CharField(default='', max_length=16)),
        migrations.AddField('job', 'token_name', models.CharField(default='', max_length=100)),
        migrations.AddField('schedule', 'token_key', models.CharField(default='', max_length=16)),
        migrations.AddField('schedule', 'token_name', models.CharField(default='', max_length=100)),
        migrations.RunPython(take_over, migrations.RunPython.noop),
    ]
