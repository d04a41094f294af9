# Two images: `light` (everything but the browser) and `render` (the same, with Chromium).
#   docker build --target light -t crawler:light .      docker build --target render -t crawler:render .
# pip's own index or certificates, for the build alone:
#   --secret id=pip,src=pip.conf --secret id=ca,src=ca.crt      (pip.conf says: cert = /run/secrets/ca)

ARG PYTHON_IMAGE=python:3.11-slim-bookworm

FROM ${PYTHON_IMAGE} AS base
ENV PATH=/opt/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1
WORKDIR /app
RUN groupadd --system --gid 10001 crawler \
    && useradd --system --uid 10001 --gid 10001 --home-dir /app --no-create-home crawler \
    && install -d -o crawler -g crawler -m 0700 /data /run/crawler \
    && install -d -o crawler -g crawler -m 0755 /run/postgres-secrets /run/valkey-secrets

# What follows in this stage is only used to build: the tools of compilers and pip's files stay behind in it.
FROM base AS packages
RUN apt-get update && apt-get install -y --no-install-recommends binutils && rm -rf /var/lib/apt/lists/*
RUN python -m venv --without-pip /opt/venv
COPY requirements/base.lock requirements/notify.lock requirements/
RUN --mount=type=secret,id=pip,target=/etc/pip.conf --mount=type=secret,id=ca --mount=type=cache,target=/root/.cache/pip \
    pip --python /opt/venv/bin/python install --require-hashes --only-binary :all: -r requirements/base.lock -r requirements/notify.lock
RUN --mount=type=bind,source=deploy/image/trim.py,target=/trim.py cp -a /opt/venv /opt/trimmed && python /trim.py /opt/trimmed

# Only what the browser's lane adds to it.
FROM packages AS render-packages
COPY requirements/render.lock requirements/
RUN --mount=type=bind,source=deploy/image/trim.py,target=/trim.py \
    --mount=type=secret,id=pip,target=/etc/pip.conf --mount=type=secret,id=ca --mount=type=cache,target=/root/.cache/pip \
    python /trim.py --lock requirements/render.lock \
    && pip --python /opt/venv/bin/python install --prefix /more --no-deps --require-hashes --only-binary :all: \
    -r requirements/render.lock
RUN --mount=type=bind,source=deploy/image/trim.py,target=/trim.py python /trim.py /more

# The program itself, as a wheel. It is the last layer of both images: an edit makes nothing else anew.
FROM packages AS program
WORKDIR /source
COPY pyproject.toml README.md LICENSE alembic.ini ./
COPY crawler crawler
COPY workers workers
COPY migrations migrations
COPY docs docs
RUN pip --python /opt/venv/bin/python wheel --no-deps --no-index --no-build-isolation --wheel-dir /wheels . \
    && pip --python /opt/venv/bin/python install --no-deps --no-index --no-warn-script-location --prefix /program/opt/venv /wheels/*.whl \
    && install -D -m 0644 alembic.ini /program/app/alembic.ini \
    && ln -s "$(cd /program && echo /opt/venv/lib/python*/site-packages)/migrations" /program/app/migrations

# What both images are told. Their files come in as one layer without what was removed from the base, and the program on
# top.
FROM scratch AS settings
ENV PATH=/opt/venv/bin:/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
ENV CRAWLER_DATA_DIR=/data CRAWLER_SECRETS_DIR=/run/crawler CRAWLER_PULSE_FILE=/tmp/crawler-pulse
WORKDIR /app
USER 10001:10001
VOLUME /data
EXPOSE 8800
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s CMD ["healthy", "http", "8800", "/api/v1/health/live"]
CMD ["crawler", "up", "--host", "0.0.0.0"]

FROM base AS light-files
COPY --from=packages /opt/trimmed /opt/venv
COPY --chmod=0755 deploy/image/healthy deploy/image/make-secrets /usr/local/bin/
RUN --mount=type=bind,source=deploy/image/trim.py,target=/trim.py python /trim.py --system

# Playwright's driver needs libatomic1, which nothing of Debian asks for here.
FROM base AS render-files
RUN apt-get update \
    && apt-get install -y --no-install-recommends chromium-headless-shell fonts-liberation fonts-noto-core libatomic1 \
    && rm -rf /var/lib/apt/lists/*
COPY --from=packages /opt/trimmed /opt/venv
COPY --from=render-packages /more /opt/venv
COPY --chmod=0755 deploy/image/healthy deploy/image/make-secrets /usr/local/bin/
RUN --mount=type=bind,source=deploy/image/trim.py,target=/trim.py python /trim.py --system

FROM settings AS light
COPY --from=light-files / /
COPY --from=program /program /

FROM settings AS render
ENV CRAWLER_CHROMIUM=/usr/bin/chromium-headless-shell CRAWL4_AI_BASE_DIRECTORY=/tmp
COPY --from=render-files / /
COPY --from=program /program /
