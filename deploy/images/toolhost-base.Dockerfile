# Base of a toolhost that executes code in its own container, for RUNTIME_IMAGE of Dockerfile:
#   docker build -t reeve-base-toolhost - < deploy/images/toolhost-base.Dockerfile
FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends bubblewrap python3 ripgrep gawk ca-certificates \
 && rm -rf /var/lib/apt/lists/*
