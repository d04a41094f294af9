# Two images: `light` (everything but the browser) and `render` (with Chromium).
#   docker build --target light -t crawler:light .      docker build --target render -t crawler:render .

FROM python:3.11-slim-bookworm AS light
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /app
RUN useradd --system --uid 10001 --home-dir /app crawler && install -d -o crawler /data && python -m venv /opt/venv

# The dependencies first: a layer that an edit of the source leaves alone.
COPY requirements ./requirements
RUN pip install --no-cache-dir --require-hashes --only-binary :all: -r requirements/base.lock -r requirements/notify.lock

# Editable, because the migrations are found beside the package.
COPY . .
RUN pip install --no-cache-dir --no-deps --no-build-isolation -e . && python -m compileall -q crawler workers migrations

USER crawler
ENV CRAWLER_DATA_DIR=/data
VOLUME /data
EXPOSE 8800
CMD ["crawler", "up", "--host", "0.0.0.0"]

FROM light AS render
USER root
RUN apt-get update \
    && apt-get install -y --no-install-recommends chromium-headless-shell fonts-liberation fonts-noto-core \
    && rm -rf /var/lib/apt/lists/*
RUN pip install --no-cache-dir --require-hashes --only-binary :all: \
    -r requirements/base.lock -r requirements/notify.lock -r requirements/render.lock
USER crawler
ENV CRAWLER_CHROMIUM=/usr/bin/chromium-headless-shell CRAWL4_AI_BASE_DIRECTORY=/tmp
CMD ["celery", "-A", "workers.app", "worker", "-n", "render@%h", "-Q", "render", "-l", "info", "-c", "1", \
     "--without-gossip", "--without-mingle"]
