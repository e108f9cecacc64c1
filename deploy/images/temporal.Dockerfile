# The services with the packages of Temporal, for runtimes with REEVE_EXECUTOR=temporal. From the root of the repository, on the image of
# Dockerfile:
#   docker build -f deploy/images/temporal.Dockerfile -t reeve-temporal:0.1.0 .
# It has some 160 MB more, most of which is the native library of Temporal's SDK. Other services need none of it.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim
ARG REEVE_IMAGE=reeve:0.1.0

FROM ${NODE_IMAGE} AS sdk
WORKDIR /source
COPY services/runtime/temporal services/runtime/temporal
COPY services/runtime/src/executors/temporal/carry-run.ts services/runtime/src/executors/temporal/carry-run.ts
RUN ["node", "services/runtime/temporal/install.mjs", "/temporal"]

FROM ${REEVE_IMAGE}
COPY --from=sdk /temporal /temporal
ENV REEVE_TEMPORAL_SDK=/temporal
