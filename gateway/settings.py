"""Django's settings, read once from the environment (`gateway.env`); the defaults suit one machine."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from console.clusters.own_brokers import MOST_BROKERS, MOST_REPLICAS
from gateway import env
from gateway.own_tls import own_tls
from gateway.private import UMASK

# Set before any file is created: the database, the secret key, the file of the scheduler.
os.umask(UMASK)

BASE_DIR: Final = Path(__file__).resolve().parent.parent

# --- Gantry itself ---------------------------------------------------------------------------------------------------

GANTRY_DATA_DIR = env.folder("GANTRY_DATA_DIR", Path("data"))
GANTRY_BIND = env.text("GANTRY_BIND", "127.0.0.1")
GANTRY_HTTP_PORT = env.port("GANTRY_HTTP_PORT", 8000)
GANTRY_NAMESRV_PORT = env.port("GANTRY_NAMESRV_PORT", 9876)
GANTRY_BROKER_PORT = env.port("GANTRY_BROKER_PORT", 10911)
# Name servers of the embedded cluster, as this process reaches them; the supervisor sets them.
GANTRY_NAME_SERVERS = env.words("GANTRY_NAME_SERVERS", (f"127.0.0.1:{GANTRY_NAMESRV_PORT}",))
# The account with which requests to the embedded cluster are signed; the supervisor sets it with GANTRY_ACL=on.
GANTRY_CREDENTIALS = env.account("GANTRY_ACL_ACCOUNT")
# How to reach them with TLS; None: in plaintext.
GANTRY_OWN_TLS = own_tls().client
# Of the brokers that `gateway.up` starts on this machine: their files are in the data folder.
GANTRY_BROKERS = env.number("GANTRY_BROKERS", 1, low=1, high=MOST_BROKERS)
GANTRY_REPLICAS = env.number("GANTRY_REPLICAS", 1, low=1, high=MOST_REPLICAS)
GANTRY_FLUSH = env.choice("GANTRY_FLUSH", "async", ("async", "sync"))
GANTRY_REDIS_URL = env.redis_url("GANTRY_REDIS_URL", "redis://127.0.0.1:6379/0")
# How many Spark programs run at once; each needs at least half a gigabyte.
GANTRY_JOBS_AT_ONCE = env.number("GANTRY_JOBS_AT_ONCE", 2, low=1, high=64)
# How many of these one user may have; 0 for all but one while several users start jobs.
GANTRY_JOBS_AT_ONCE_PER_USER = env.number("GANTRY_JOBS_AT_ONCE_PER_USER", 0, low=0, high=64)
# What jobs may read beside topics: files below a folder, and the databases of a service file of libpq.
GANTRY_JOBS_FILES = env.existing("GANTRY_JOBS_FILES", is_folder=True)
GANTRY_JOBS_DATABASES = env.existing("GANTRY_JOBS_DATABASES", is_folder=False)
# Days for which log, report and files of a job are kept after its end.
GANTRY_JOBS_KEEP_DAYS = env.number("GANTRY_JOBS_KEEP_DAYS", 30, low=1, high=36_500)
# MiB that the files of all jobs that have ended may have; those of the oldest are removed before their time.
GANTRY_JOBS_KEEP_MIB = env.number("GANTRY_JOBS_KEEP_MIB", 20_480, low=1, high=1 << 30)
# How many jobs may wait for a place; more are refused.
GANTRY_JOBS_QUEUED = env.number("GANTRY_JOBS_QUEUED", 200, low=1, high=100_000)
GANTRY_JOBS_QUEUED_PER_USER = env.number("GANTRY_JOBS_QUEUED_PER_USER", 100, low=1, high=100_000)
# How many minutes a job may work; 0 for no limit.
GANTRY_JOBS_MINUTES = env.number("GANTRY_JOBS_MINUTES", 0, low=0, high=525_600)
# MiB that must stay free where jobs keep their files; below that jobs are ended.
GANTRY_JOBS_FREE_MIB = env.number("GANTRY_JOBS_FREE_MIB", 1_024, low=0, high=1 << 30)
# How many events of each cluster's activity are kept, in Redis.
GANTRY_ACTIVITY_KEPT = env.number("GANTRY_ACTIVITY_KEPT", 200, low=10, high=10_000)
GANTRY_SPARK_MASTER = env.text("GANTRY_SPARK_MASTER", "local[*]")
GANTRY_SPARK_PYTHON = env.text("GANTRY_SPARK_PYTHON")
# A file like Spark's own spark-defaults.conf, for jobs alone.
GANTRY_SPARK_CONF = env.spark_conf("GANTRY_SPARK_CONF", GANTRY_SPARK_MASTER)
# For how many seconds a local Spark is kept for the next job; 0 is not at all.
GANTRY_SPARK_WARM = env.number("GANTRY_SPARK_WARM", 600, low=0, high=86_400)
# One that has more memory is not kept.
GANTRY_SPARK_WARM_MIB = env.number("GANTRY_SPARK_WARM_MIB", 1536, low=256, high=1_048_576)
# The public URL, e.g. https://example.org/gantry; with https, cookies are sent only over https.
GANTRY_PUBLIC_URL = env.public_url("GANTRY_PUBLIC_URL")

# Proxies whose X-Forwarded-For is trusted; addresses or networks.
GANTRY_PROXIES = env.networks("GANTRY_PROXIES", ("127.0.0.1", "::1") if GANTRY_PUBLIC_URL.startswith("https:") else ())

# --- Alerts ----------------------------------------------------------------------------------------------------------

# Webhooks reach public addresses, and these: addresses or networks, e.g. 10.0.0.0/8.
GANTRY_WEBHOOK_NETWORKS = env.networks("GANTRY_WEBHOOK_NETWORKS")
# Without a host no mail is sent.
EMAIL_HOST = env.text("GANTRY_SMTP_HOST")
EMAIL_PORT = env.number("GANTRY_SMTP_PORT", 587, low=1, high=65_535)
EMAIL_HOST_USER = env.text("GANTRY_SMTP_USER")
EMAIL_HOST_PASSWORD = env.text("GANTRY_SMTP_PASSWORD")
_SMTP_TLS: Final = env.choice("GANTRY_SMTP_TLS", "starttls", ("none", "starttls", "tls"))
EMAIL_USE_TLS = _SMTP_TLS == "starttls"
EMAIL_USE_SSL = _SMTP_TLS == "tls"
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.text("GANTRY_MAIL_FROM", "gantry@localhost")

_PUBLIC: Final = urlsplit(GANTRY_PUBLIC_URL)
# The path before all others behind a proxy, e.g. /gantry; empty for none.
GANTRY_BASE_PATH = _PUBLIC.path
_HTTPS: Final = _PUBLIC.scheme == "https"
_LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")

# --- Django ----------------------------------------------------------------------------------------------------------

SECRET_KEY = env.secret("GANTRY_SECRET_KEY", GANTRY_DATA_DIR / "secret.key")
DEBUG = env.flag("GANTRY_DEBUG", False)
# On loopback only loopback names are served: no other site can reach the console by its own name (DNS rebinding).
ALLOWED_HOSTS = env.words(
    "GANTRY_ALLOWED_HOSTS",
    tuple(name for name in (*_LOOPBACK, _PUBLIC.hostname) if name)
    if GANTRY_BIND in ("127.0.0.1", "::1", "localhost")
    else ("*",),
)
CSRF_TRUSTED_ORIGINS = [f"{_PUBLIC.scheme}://{_PUBLIC.netloc}"] if _PUBLIC.netloc else []
ROOT_URLCONF = "gateway.urls"
ASGI_APPLICATION = "gateway.asgi.application"
APPEND_SLASH = False
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en-us"
USE_I18N = False
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATA_UPLOAD_MAX_MEMORY_SIZE = 8 * 1024 * 1024

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "channels",
    "console",
    "gateway",
]

MIDDLEWARE = [
    "gateway.control.middleware.RequestIdMiddleware",
    "gateway.control.middleware.SecurityHeadersMiddleware",
    "gateway.control.rates.RateHeadersMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "gateway.control.pages.ConsoleFilesMiddleware",
    "gateway.control.middleware.EncodedSlashMiddleware",
    "gateway.control.text_offsets.TextOffsetsMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
]

TEMPLATES = [
    {"BACKEND": "django.template.backends.django.DjangoTemplates", "DIRS": [BASE_DIR / "gateway" / "templates"]}
]

DATABASES = {"default": env.database("GANTRY_DATABASE_URL", f"sqlite://{GANTRY_DATA_DIR / 'gantry.sqlite3'}")}

# --- People and sessions ---------------------------------------------------------------------------------------------

AUTH_USER_MODEL = "console.User"
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 8}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
SESSION_COOKIE_NAME = "gantry_session"
SESSION_COOKIE_AGE = int(timedelta(days=14).total_seconds())
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = _HTTPS
SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = f"{GANTRY_BASE_PATH}/"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SECURE = _HTTPS
CSRF_FAILURE_VIEW = "gateway.control.pages.csrf_failure"

# --- Answers to browsers ---------------------------------------------------------------------------------------------

SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SECURE_HSTS_SECONDS = int(timedelta(days=365).total_seconds()) if _HTTPS else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if _HTTPS else None
X_FRAME_OPTIONS = "DENY"

STATIC_URL = "/static/"
CONSOLE_FILES = BASE_DIR / "frontend" / "dist"
WHITENOISE_ROOT = str(CONSOLE_FILES) if CONSOLE_FILES.is_dir() else None
WHITENOISE_INDEX_FILE = False
WHITENOISE_ALLOW_ALL_ORIGINS = False
# The names of files under assets/ contain a hash of their content.
WHITENOISE_IMMUTABLE_FILE_TEST = r"^/assets/.+-[\w-]{8,}\.\w+(\.map)?$"

# --- The HTTP API ----------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "console.accounts.authentication.TokenAuthentication",
        "console.accounts.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["console.accounts.permissions.SignedIn"],
    "DEFAULT_THROTTLE_CLASSES": ["gateway.control.rates.CallerRate"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["console.json_body.JsonParser"],
    "DEFAULT_SCHEMA_CLASS": "gateway.control.schema.GantrySchema",
    "EXCEPTION_HANDLER": "gateway.problem_views.exception_handler",
    "UNICODE_JSON": True,
    # Exports choose by `as`; a parameter `format` that the document declares would be refused.
    "URL_FORMAT_OVERRIDE": None,
}

SPECTACULAR_SETTINGS = {
    "TITLE": "Gantry",
    "DESCRIPTION": "Control plane of Gantry: clusters, topics, groups, messages, jobs and access.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVERS": [{"url": GANTRY_BASE_PATH}] if GANTRY_BASE_PATH else [],
    "SCHEMA_PATH_PREFIX": r"/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "PATH_CONVERTER_OVERRIDES": {"number": {"type": "integer"}},
    "COMPONENT_SPLIT_REQUEST": True,
    "COMPONENT_NO_READ_ONLY_REQUIRED": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_ADD_EXPLICIT_BLANK_NULL_CHOICE": True,
    "DISABLE_ERRORS_AND_WARNINGS": False,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "gateway.control.schema.add_problems",
        "gateway.control.examples.add_examples",
    ],
    "ENUM_NAME_OVERRIDES": {
        "BuiltInRole": "console.accounts.models.RoleChoice",
        "ResourceKind": "console.accounts.rules.KINDS",
        "RuleOutcome": "console.accounts.deciding.OUTCOMES",
        "Right": "console.accounts.rights.VERBS",
        "Language": "console.accounts.serializers.LANGUAGES",
        "AuditResult": "console.audit.serializers.RESULTS",
        "ClusterKind": "console.clusters.models.ClusterKind",
        "GroupState": "console.lag.shapes.GROUP_STATES",
        "CallerKind": "console.lag.shapes.CALLER_KINDS",
        "GroupMode": "console.lag.shapes.GROUP_MODES",
        "GroupDelivery": "console.lag.shapes.GROUP_DELIVERIES",
        "BrokerRole": "console.lag.shapes.BROKER_ROLES",
        "TopicKind": "gateway.control.topic_shapes.KINDS",
        "TopicPermission": "gateway.control.topic_shapes.PERMISSIONS",
        "ShownPermission": "gateway.control.topic_shapes.SHOWN_PERMISSIONS",
        "BodyEncoding": "gateway.control.message_shapes.ENCODINGS",
        "SearchVerdict": "gateway.control.message_shapes.VERDICTS",
        "DeliveryState": "gateway.control.message_shapes.DELIVERY_STATES",
        "ClientProtocol": "gateway.control.group_shapes.PROTOCOLS",
        "EventKind": "console.activity.shapes.KINDS",
        "JobType": "console.jobs.models.JobType",
        "JobState": "console.jobs.models.JobState",
        "Overlap": "console.jobs.models.Overlap",
        "JobHeldBy": "console.jobs.turns.HELD_BY",
        "DefinitionsFormat": "gateway.control.definitions.shapes.FORMATS",
        "ExportFormat": "console.jobs.requests.export.FORMATS",
        "ExportColumn": "console.jobs.requests.export.COLUMNS",
        "AlertMetric": "console.alerts.models.Metric",
        "AlertDirection": "console.alerts.models.Direction",
        "AlertSeverity": "console.alerts.models.Severity",
        "AlertState": "console.alerts.models.AlertState",
        "ShownAlertState": "console.alerts.alert_shapes.SHOWN_WORDS",
        "DeliveryEvent": "console.alerts.delivery_shapes.EVENTS",
        "SilenceState": "console.alerts.silence_views.STATES",
        "ChannelKind": "console.alerts.models.ChannelKind",
        "DefinitionSection": "gateway.control.definitions.shapes.SECTIONS",
        "DefinitionAction": "gateway.control.definitions.plan_shapes.ACTIONS",
        "DefinitionResult": "gateway.control.definitions.plan_shapes.RESULTS",
        "DefinitionRemark": "gateway.control.definitions.shapes.REMARK_CODES",
        "BulkOutcome": "gateway.control.bulk.OUTCOMES",
        "CauseSource": "broker_core.protocol.dead_letters.SOURCES",
        "OffsetMode": "console.offsets.shapes.MODES",
        "QueueWarning": "console.offsets.shapes.QUEUE_WARNINGS",
        "StartedJobType": "console.jobs.requests.STARTED",
        "TransactionState": "gateway.control.transaction_shapes.STATES",
        "AlertDeliveryState": "console.alerts.models.DeliveryState",
    },
}

# --- Redis: live channels, caches, Celery ----------------------------------------------------------------------------

CHANNEL_LAYERS: dict[str, Any] = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        "CONFIG": {
            # An idle reader blocks for five seconds at a time, which is also the client's default time-out.
            "hosts": [{"address": GANTRY_REDIS_URL, "socket_timeout": None, "socket_connect_timeout": 5}],
            "prefix": "gantry:asgi",
            "capacity": 200,
            "expiry": 10,
        },
    }
}
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": GANTRY_REDIS_URL,
        "OPTIONS": {"socket_timeout": 2, "socket_connect_timeout": 2},
        "KEY_PREFIX": "gantry:cache",
    },
    "memory": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
}

# The job row decides, the message is only a hint: acknowledge early, fetch one at a time, keep no results.
CELERY_BROKER_URL = env.celery_url(GANTRY_REDIS_URL)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {"global_keyprefix": "gantry:celery:"}
CELERY_TIMEZONE = "UTC"
CELERY_TASK_ACKS_LATE = False
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_ROUTES = {"console.jobs.tasks.run": {"queue": "spark"}}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BEAT_SCHEDULE_FILENAME = str(GANTRY_DATA_DIR / "beat-schedule")
CELERY_BEAT_MAX_LOOP_INTERVAL = 5
# Each message expires before the next one, so that a worker that was away finds one of each, not many.
CELERY_BEAT_SCHEDULE = {
    "tick": {"task": "console.jobs.tasks.tick", "schedule": 15.0, "options": {"expires": 14}},
    "sweep": {"task": "console.jobs.tasks.sweep", "schedule": 3600.0, "options": {"expires": 3599}},
    "alerts": {"task": "console.alerts.tasks.tick", "schedule": 15.0, "options": {"expires": 14}},
    "alerts_sweep": {"task": "console.alerts.tasks.sweep", "schedule": 3600.0, "options": {"expires": 3599}},
    "reap": {"task": "console.jobs.tasks.reap", "schedule": 10.0, "options": {"expires": 9}},
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "broker_core.logs.LineFormatter"}},
    "filters": {
        "one_line": {"()": "gateway.log_filters.OneLine"},
        "rare": {"()": "gateway.log_filters.Rare"},
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "loggers": {
        # Anyone can send a wrong Host header: that is no error of ours.
        "django.security.DisallowedHost": {"filters": ["one_line", "rare"]},
        "django.security.csrf": {"filters": ["rare"]},
        "django.request": {"filters": ["rare"]},
        # They log each request with its URL, and the path of a hook's or a webhook's is often its secret.
        "httpx": {"level": "WARNING"},
        "httpcore": {"level": "WARNING"},
    },
    "root": {"handlers": ["stderr"], "level": env.text("GANTRY_LOG_LEVEL", "INFO")},
}
