# A small image with the program, which nobody runs as root:
#
#     docker build -t offnominal .
#     docker run --rm -v "$PWD:/work" offnominal demo
#
# The stage `develop` has the toolchain and the sources; both commands of the README run in it:
#
#     docker build --target develop -t offnominal-develop .
#     docker run --rm offnominal-develop cargo run --release -- demo
#     docker run --rm offnominal-develop cargo test --workspace

ARG RUST=1.95
ARG DEBIAN=bookworm

FROM rust:${RUST}-slim-${DEBIAN} AS develop
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 python3-pip python3-venv \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 1000 offnominal
WORKDIR /src
RUN chown offnominal:offnominal /src
USER 1000:1000
ENV CARGO_HOME=/home/offnominal/.cargo
COPY --chown=offnominal:offnominal . .

FROM develop AS build
RUN cargo build --release --locked \
 && python3 -m pip download --no-deps --only-binary=:all: --python-version 3.11 --platform "manylinux_2_28_$(uname -m)" --dest /tmp/wheel mujoco==3.17.0 \
 && python3 -m zipfile -e /tmp/wheel/*.whl /tmp/mujoco \
 && mkdir -p /tmp/image/bin /tmp/image/lib /tmp/image/share/offnominal/agents/pixels /tmp/image/share/offnominal/agents/shift \
 && cp target/release/offnominal /tmp/image/bin/ \
 && install -m 644 /tmp/mujoco/mujoco/libmujoco.so.3.17.0 /tmp/image/lib/ \
 && for file in pixels/car-lanekeep-256.safetensors pixels/car-lanekeep.safetensors shift/policies.zip; do \
      cp "agents/$file" "/tmp/image/share/offnominal/agents/$file"; done \
 && target/release/offnominal manual /tmp/image/share

FROM debian:${DEBIAN}-slim
LABEL org.opencontainers.image.title="Offnominal" \
      org.opencontainers.image.description="Would a monitor of your control policy notice that something is wrong?" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0"
RUN useradd --create-home --uid 1000 offnominal && mkdir /work && chown offnominal:offnominal /work
COPY --from=build /tmp/image /usr/local
# The image's own library: nothing is fetched when it is first used.
ENV OFFNOMINAL_MUJOCO=/usr/local/lib/libmujoco.so.3.17.0
USER 1000:1000
WORKDIR /work
ENTRYPOINT ["offnominal"]
CMD ["--help"]
