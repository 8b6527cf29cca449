#!/usr/bin/env node
// Installs a Spark for local nodes: install-spark.mjs RUNTIME_DIR VERSION
// A worker calls it when a cluster asks for a Spark that is not installed yet. It prints progress on stderr and, as its only line
// on stdout, where the Spark and what belongs to it are.
import { prepareSpark } from './runtime.mjs';

const [runtimeDir, version] = process.argv.slice(2);
if (!runtimeDir || !version) {
  console.error('Usage: install-spark.mjs RUNTIME_DIR VERSION');
  process.exit(2);
}
const aborting = new AbortController();
for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => aborting.abort());
try {
  const onProgress = (/** @type {string} */ text, /** @type {boolean | undefined} */ transient) =>
    transient || console.error(text);
  const spark = await prepareSpark(runtimeDir, version, { onProgress, signal: aborting.signal });
  const { sparkHome, classArchive, connectors, scalaKernel, turbo } = spark;
  const described = { home: sparkHome, class_archive: classArchive, connectors, scala_kernel: scalaKernel, turbo };
  console.log(JSON.stringify(described));
} catch (error) {
  console.error(/** @type {Error} */ (error).message);
  process.exitCode = 1;
}
