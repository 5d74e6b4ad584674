# docker build -t diagnose . && docker run --rm -v "$PWD/logs:/logs:ro" diagnose /logs
FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY diagnose diagnose
COPY rules rules
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /dist . \
 && python -m venv /opt/diagnose \
 && /opt/diagnose/bin/pip install --no-cache-dir "$(ls /dist/*.whl)[mcp,zstd]" \
 && /opt/diagnose/bin/pip uninstall --yes pip

FROM python:3.13-slim
COPY --from=build /opt/diagnose /opt/diagnose
# Templates are compiled here, once: containers that are started for one log each find them ready.
ENV PATH=/opt/diagnose/bin:$PATH XDG_CACHE_HOME=/opt/cache HOME=/tmp
RUN mkdir -m 0755 /opt/cache /logs && chown 65532:65532 /opt/cache
USER 65532:65532
RUN echo 'step 1 loss 2.0' | diagnose --exit-zero -q
WORKDIR /logs
ENTRYPOINT ["diagnose"]
CMD ["--help"]
