"""``python -m gateway.up.settings``: every setting of `make up`, with its default.

Imports nothing that has to be installed: `make help` is what one runs first, on a machine that has only Python.
"""

from __future__ import annotations

import argparse
import sys
from typing import Final

SETTINGS: Final = (
    ("GANTRY_DATA_DIR", "./data", "where messages, database, keys and job results are kept"),
    ("GANTRY_BIND", "127.0.0.1", "address that broker, name server and gateway listen on"),
    ("GANTRY_HTTP_PORT", "8000", "console and HTTP API"),
    ("GANTRY_NAMESRV_PORT", "9876", "name server, for RocketMQ clients"),
    ("GANTRY_BROKER_PORT", "10911", "broker, for RocketMQ clients; each further one 10 higher"),
    ("GANTRY_BROKERS", "1", "brokers, each a process with its folder; more than one have a name server of their own"),
    (
        "GANTRY_REPLICAS",
        "1",
        "processes of one broker name with equal logs, one of them master; a controller elects it",
    ),
    ("GANTRY_BROKERS_LEFT_OUT", "", "brokers and replicas with messages that may be left out, by name"),
    ("GANTRY_TLS_MODE", "permissive with a certificate, else disabled", "TLS of name server and brokers; or enforcing"),
    ("GANTRY_TLS_CERT", "", "file with their certificate, PEM; a changed file needs no restart"),
    ("GANTRY_TLS_KEY", "", "file with its key, PEM"),
    ("GANTRY_TLS_KEY_PASSWORD", "", "password of an encrypted key"),
    ("GANTRY_TLS_CLIENT_AUTH", "none", "certificates of RocketMQ clients: none, optional or require"),
    ("GANTRY_TLS_CA", "", "file with the authorities of clients' certificates"),
    ("GANTRY_TLS_CLIENT_CERT", "(that of GANTRY_TLS_CERT)", "certificate of Gantry's own clients"),
    ("GANTRY_TLS_CLIENT_KEY", "", "its key"),
    ("GANTRY_TLS_CLIENT_KEY_PASSWORD", "", "password of that key"),
    ("GANTRY_WORKERS", "2, or 1 on one core", "gateway processes behind the HTTP port"),
    ("GANTRY_ADMIN_PASSWORD", "(generated, printed once)", "password of the first admin"),
    (
        "GANTRY_ACL",
        "off",
        "on: brokers serve only what an account of their plain_acl.yml signed; Gantry gets one",
    ),
    ("GANTRY_ACL_ACCOUNT", "(made by GANTRY_ACL)", "file with accessKey and secretKey with which Gantry signs"),
    (
        "GANTRY_NAMESRV_NETWORKS",
        "(this machine with GANTRY_ACL, else any)",
        "networks from which the name server takes changes too: brokers elsewhere",
    ),
    ("GANTRY_ACL_NETWORKS", "(this machine)", "networks from which the account made by GANTRY_ACL is served too"),
    ("GANTRY_FLUSH", "async", "async, or sync (answer a send only after fdatasync)"),
    ("GANTRY_REDIS_URL", "(own redis-server)", "redis://… of another Redis, whose database no other Gantry uses"),
    ("GANTRY_DATABASE_URL", "(sqlite in the data folder)", "postgres://… of a PostgreSQL"),
    ("GANTRY_NAME_SERVERS", "(own name server)", "host:port,… for processes that are started without make up"),
    ("GANTRY_SPARK_MASTER", "local[*]", "local[N], spark://host:7077, sc://host:15002, k8s://… or yarn"),
    ("GANTRY_SPARK_PYTHON", "", "path of Python on the executors of a Spark cluster; by default that of this Python"),
    ("GANTRY_SPARK_CONF", "", "file with settings of Spark for jobs, like Spark's own spark-defaults.conf"),
    ("GANTRY_SPARK_WARM", "600", "seconds for which a local Spark is kept for the next job; 0: not at all"),
    ("GANTRY_SPARK_WARM_MIB", "1536", "MiB of memory above which it is not kept"),
    ("GANTRY_JOBS_AT_ONCE", "2", "Spark programs that run at the same time"),
    ("GANTRY_JOBS_AT_ONCE_PER_USER", "0", "of these, jobs of one user; 0: all but one where several users start jobs"),
    ("GANTRY_JOBS_FILES", "", "folder whose Parquet and CSV files and lists of keys jobs may read"),
    ("GANTRY_JOBS_DATABASES", "", "service file of libpq with the databases that reconciliations may read"),
    ("GANTRY_WEBHOOK_NETWORKS", "", "private networks that webhooks of alerts may reach, e.g. 10.0.0.0/8"),
    ("GANTRY_SMTP_HOST", "", "mail server for alerts; without it no mail is sent"),
    ("GANTRY_SMTP_PORT", "587", "its port"),
    ("GANTRY_SMTP_TLS", "starttls", "none, starttls or tls"),
    ("GANTRY_SMTP_USER", "", "user at the mail server; empty for none"),
    ("GANTRY_SMTP_PASSWORD", "", "password of that user"),
    ("GANTRY_MAIL_FROM", "gantry@localhost", "sender of the mail"),
    ("GANTRY_JOBS_KEEP_DAYS", "30", "days for which log, report and files of a job are kept after its end"),
    (
        "GANTRY_JOBS_KEEP_MIB",
        "20480",
        "MiB for the files of all ended jobs; above that those of the oldest are removed",
    ),
    ("GANTRY_JOBS_QUEUED", "200", "jobs that may wait for a place; more are refused"),
    ("GANTRY_JOBS_MINUTES", "0", "minutes that a job may work; 0 for no limit"),
    ("GANTRY_JOBS_FREE_MIB", "1024", "MiB that must stay free for jobs to work; below that they are ended"),
    ("GANTRY_JOBS_QUEUED_PER_USER", "100", "of these, jobs of one user"),
    ("GANTRY_ACTIVITY_KEPT", "200", "how many events of each cluster's activity are kept"),
    ("GANTRY_SECRET_KEY", "(generated, kept in the data folder)", "key that signs sessions, cursors and receipts"),
    (
        "GANTRY_PUBLIC_URL",
        "(none)",
        "https://…[/path] of the console behind a proxy; https makes cookies secure",
    ),
    ("GANTRY_ALLOWED_HOSTS", "(loopback, or all)", "host names that are served, separated by commas"),
    ("GANTRY_PROXIES", "(none; loopback with https)", "proxies whose X-Forwarded-For is trusted, separated by commas"),
    ("GANTRY_RATE_PRODUCE", "50000", "messages per second that one caller may send"),
    ("GANTRY_RATE_CONSUME", "10000", "requests per second by which one caller may receive and settle"),
    ("GANTRY_RATE_READ", "300", "requests per second by which one caller may read in the control plane"),
    ("GANTRY_RATE_CHANGE", "100", "requests per second by which one caller may change something there"),
    ("GANTRY_LEASES_PER_GROUP", "100000", "messages that a group may hold on lease"),
    ("GANTRY_LEASES_PER_CALLER", "20000", "messages that one caller may hold on lease"),
    ("GANTRY_CONNECTIONS", "8192", "connections that the gateway keeps; above that it closes those idle longest"),
    ("GANTRY_IDLE_SECONDS", "30", "seconds after which a connection without a request is closed"),
    ("GANTRY_BODY_PAUSE_SECONDS", "10", "seconds for which the body of a request may pause"),
    ("GANTRY_NATIVE", "on", "off: run the broker without its compiled functions, more slowly"),
    ("GANTRY_DEBUG", "off", "on: Django's debug mode, only for work on Gantry itself"),
    ("GANTRY_LOG_LEVEL", "INFO", "DEBUG, INFO, WARNING or ERROR"),
)


def main() -> int:
    """Print the settings and return the exit status."""
    argparse.ArgumentParser(
        prog="python -m gateway.up.settings",
        description="Print the settings of `make up`, which are environment variables.",
    ).parse_args()
    sys.stdout.write(f"{help_text()}\n")
    return 0


def help_text() -> str:
    """Return the settings with their defaults, one per line, as `make help` prints them."""
    width = max(len(name) for name, _, _ in SETTINGS)
    return "\n".join(f"  {name:<{width}}  {meaning} [{default}]" for name, default, meaning in SETTINGS)


if __name__ == "__main__":
    sys.exit(main())
