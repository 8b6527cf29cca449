# Spark nodes: Java 17, Python 3, Spark and the node agent. From the project folder:
#   docker build -f docker/spark-node.Dockerfile --target spark-node   -t managed-spark-node .
#   docker build -f docker/spark-node.Dockerfile --target worker-local -t managed-spark-worker-local .
# spark-node runs one agent, which reads /etc/spark-node/agent.json (libs/node-agent/config.ts has its fields).
# worker-local is the platform's worker with everything that nodes need: its Spark nodes (endpoint local://) are processes of
# the same container.
# Both run as root, so that each run of a job can have a user of its own, who can read neither the agent's files nor those of
# other runs (ADR 0012). They need only these capabilities of root: CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID and SETUID.

# Debian 12 is the newest release with Java 17, on which Spark 3.5 runs.
ARG NODE_VERSION=24

# Dockerfile has the same stage, so that the builder's cache serves both. Keep them alike.
FROM node:${NODE_VERSION}-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY console/package.json console/
COPY sdk/typescript/package.json sdk/typescript/
RUN npm ci --ignore-scripts
COPY src src
COPY libs libs
COPY openapi.json ./
COPY sdk/typescript sdk/typescript
COPY console console
COPY scripts/build.mjs scripts/
COPY scripts/build scripts/build
# TypeScript sources, types and source maps of packages make up a third of the image, and nothing reads them.
RUN npm run build && npm prune --omit=dev --ignore-scripts \
  && find node_modules -type f \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' \) -delete

FROM node:${NODE_VERSION}-bookworm-slim AS spark
RUN apt-get update \
  && apt-get install -y --no-install-recommends python3 python3-venv \
  && rm -rf /var/lib/apt/lists/*
# Exact versions with their hashes; `npm run pins` updates them. Spark is built from its source distribution, with the packages
# installed before it and nothing else.
COPY scripts/embedded/requirements /tmp/requirements
RUN python3 -m venv /opt/python \
  && pip="/opt/python/bin/pip install --no-cache-dir --require-hashes --only-binary :all:" \
  && $pip -r /tmp/requirements/pip.txt \
  && $pip -r /tmp/requirements/spark-build.txt \
  && $pip -r /tmp/requirements/spark.txt --no-binary pyspark --no-build-isolation \
  && $pip -r /tmp/requirements/kernels.txt
COPY scripts/python-archives /tmp/python-archives
RUN /opt/python/bin/python /tmp/python-archives/compile.py /opt/python/lib/python3*/site-packages/pyspark \
  && rm -r /tmp/python-archives

FROM node:${NODE_VERSION}-bookworm-slim AS base
# The package of the Java runtime expects the folder of manual pages, which slim images lack.
RUN mkdir -p /usr/share/man/man1 \
  && apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap openjdk-17-jre-headless procps python3 tini \
  && rm -rf /var/lib/apt/lists/* \
  && ln -s "$(dirname "$(dirname "$(readlink -f "$(command -v java)")")")" /opt/java \
  && install -d -m 711 /var/lib/platform /var/lib/platform/nodes /var/lib/spark-node \
  && install -d -m 700 -o node -g node /var/lib/platform/data
# The users of runs. Java and Hadoop fail for a user without a name.
RUN seq 1900000000 1900004095 | sed 's|.*|spark-&:x:&:&::/nonexistent:/bin/sh|' >> /etc/passwd
COPY --from=spark /opt/python /opt/python
# Spark looks up the machine's own name, which some builders do not know. These are only set while the image is built.
ARG SPARK_LOCAL_HOSTNAME=localhost
ARG SPARK_LOCAL_IP=127.0.0.1
RUN ln -s /opt/python/lib/python3*/site-packages/pyspark /opt/spark && /opt/spark/bin/spark-submit --version
# Clusters and jobs start in about half the time from an archive of Spark's classes (ADR 0007).
COPY scripts/class-archive /tmp/scripts/class-archive
COPY scripts/embedded/deadline.mjs scripts/embedded/processes.mjs scripts/embedded/quick-java.mjs /tmp/scripts/embedded/
RUN node /tmp/scripts/class-archive/class-archive.mjs /opt/spark /opt/java /opt/python/bin/python /opt/spark.jsa \
  && rm -r /tmp/scripts
# The jars with which jobs reach mounts of object stores (ADR 0008); MAVEN_REPOSITORY_URL may name a mirror of Maven Central.
ARG MAVEN_REPOSITORY_URL
COPY scripts/connectors /tmp/scripts/connectors
# The kernel of Scala notebooks (ADR 0081).
COPY scripts/scala-kernel /tmp/scripts/scala-kernel
# The jar that accelerates queries of clusters with turbo.
COPY scripts/turbo /tmp/scripts/turbo
COPY scripts/embedded/deadline.mjs scripts/embedded/maven-jars.mjs scripts/embedded/processes.mjs \
  scripts/embedded/quick-java.mjs scripts/embedded/scala-compiler.mjs scripts/embedded/together.mjs /tmp/scripts/embedded/
RUN node /tmp/scripts/connectors/connectors.mjs /opt/spark /opt/java /opt/connectors \
  && node /tmp/scripts/turbo/turbo.mjs 3.5.9 /opt/turbo.jar \
  && mkdir /opt/scala-kernel \
  && node /tmp/scripts/scala-kernel/scala-kernel.mjs /opt/spark /opt/java /opt/scala-kernel \
  && rm -r /tmp/scripts
ENTRYPOINT ["/usr/bin/tini", "--"]

FROM base AS worker-local
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    DATA_DIR=/var/lib/platform/data \
    WORKER_HEALTH_PORT=8081 \
    COMPUTE_LOCAL_ENABLED=true \
    COMPUTE_LOCAL_DIR=/var/lib/platform/nodes \
    COMPUTE_LOCAL_SPARK_HOMES=3.5.9=/opt/spark \
    COMPUTE_LOCAL_JAVA_HOME=/opt/java \
    COMPUTE_LOCAL_PYTHON=/opt/python/bin/python \
    COMPUTE_LOCAL_CLASS_ARCHIVES=3.5.9=/opt/spark.jsa \
    COMPUTE_LOCAL_CONNECTORS=3.5.9=/opt/connectors \
    COMPUTE_LOCAL_SCALA_KERNELS=3.5.9=/opt/scala-kernel \
    COMPUTE_LOCAL_TURBO=3.5.9=/opt/turbo.jar \
    COMPUTE_LOCAL_UIDS=1900000000-1900004095
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
USER 0:0
# The same as in Dockerfile.
RUN node dist/worker.js 2>&1 | grep 'The configuration is not usable' > /dev/null
# The same as in Dockerfile.
ARG VERSION=0.0.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="managed-spark-worker-local" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
EXPOSE 8081
CMD ["node", "dist/worker.js"]

FROM base AS spark-node
ENV SPARK_NODE_UIDS=1900000000-1900004095
WORKDIR /opt/agent
COPY --from=build /app/dist/libs/contracts contracts
COPY --from=build /app/dist/libs/json json
COPY --from=build /app/dist/libs/spark spark
COPY --from=build /app/dist/libs/node-agent node-agent
COPY --from=build /app/dist/libs/run-bridges run-bridges
ARG VERSION=0.0.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="managed-spark-node" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
USER 0:0
CMD ["node", "node-agent/main.js", "/etc/spark-node/agent.json"]
