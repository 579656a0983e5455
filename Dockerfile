# One image for every process of docker-compose.yml.
FROM python:3.11-slim-bookworm
RUN apt-get update && apt-get install -y --no-install-recommends gcc make procps && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 gantry && mkdir /data && chown gantry /data
WORKDIR /opt/gantry
COPY requirements/runtime.txt requirements/
RUN pip install --no-cache-dir --require-hashes -r requirements/runtime.txt
COPY frontend frontend
COPY gateway/__init__.py gateway/env.py gateway/
COPY gateway/up gateway/up
RUN python -m gateway.up.frontend build && rm -rf frontend/node_modules
COPY . .
RUN python -m broker_core.native.build && python -m broker_core.spark.archive
USER gantry
ENV PYTHONUNBUFFERED=1 PYTHONPATH=/opt/gantry GANTRY_DATA_DIR=/data
