# LabelHub: server, worker and every command. Built by `make release`; docs/deploy.md says how to run it.
ARG PYTHON=3.11

FROM python:${PYTHON}-slim-trixie AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
RUN python -m venv /opt/labelhub && python -m pip install --target /opt/build "hatchling>=1.27"
COPY requirements.lock /src/
RUN /opt/labelhub/bin/pip install -r /src/requirements.lock
COPY pyproject.toml README.md LICENSE manage.py /src/
COPY labelhub /src/labelhub
COPY apps /src/apps
COPY templates /src/templates
COPY static /src/static
COPY prompts /src/prompts
COPY locale /src/locale
COPY deploy/build_hook.py /src/deploy/
# The tests of the libraries, and what has installed them, have no use in the image.
RUN PYTHONPATH=/opt/build /opt/labelhub/bin/pip install --no-deps --no-build-isolation /src \
 && /opt/labelhub/bin/pip uninstall --yes setuptools \
 && /opt/labelhub/bin/pip uninstall --yes pip \
 && find /opt/labelhub -type d -name tests -prune -exec rm -r {} +

FROM python:${PYTHON}-slim-trixie
# `backup` and `restore` use pg_dump, pg_restore and psql: those of PostgreSQL 17.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends postgresql-client \
 && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin labelhub \
 && install -d -m 0700 -o labelhub -g labelhub /var/lib/labelhub /var/lib/labelhub-secrets
COPY --from=build /opt/labelhub /opt/labelhub
ENV PATH=/opt/labelhub/bin:$PATH LABELHUB_DATA_DIR=/var/lib/labelhub \
    PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
WORKDIR /var/lib/labelhub
VOLUME /var/lib/labelhub
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=5m \
  CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/health/live', timeout=4)"]
ENTRYPOINT ["labelhub"]
CMD ["serve", "--host", "0.0.0.0"]
