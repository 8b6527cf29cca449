#!/usr/bin/env node
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchJars } from '../embedded/maven-jars.mjs';
import { withDeadline } from '../embedded/deadline.mjs';
import { compileScala } from '../embedded/scala-compiler.mjs';

const DEADLINE_MS = 5 * 60_000;

/** The sources that are compiled here, by the jar that each becomes. */
const SOURCES = {
  'mount-file-system.jar': fileURLToPath(new URL('MountFileSystem.scala', import.meta.url)),
  'ui-token-filter.jar': fileURLToPath(new URL('UiTokenFilter.scala', import.meta.url)),
};

/** The Hadoop of Spark 3.4 and 3.5, to which the jars below belong. */
const HADOOP_VERSION = '3.3.4';

/**
 * The jars that Spark lacks to reach S3, Google Cloud Storage and ADLS Gen2, with SHA-256. The AWS SDK is limited to the parts
 * that S3A uses: the bundle that Hadoop names has 280 MB.
 */
export const JARS = {
  'org/apache/hadoop/hadoop-aws/3.3.4/hadoop-aws-3.3.4.jar':
    '53f9ae03c681a30a50aa17524bd9790ab596b28481858e54efd989a826ed3a4a',
  'com/amazonaws/aws-java-sdk-core/1.12.262/aws-java-sdk-core-1.12.262.jar':
    '06fed99f929c389e168278c1b111aaf1afb270d07202fbbce92e73d1e4279678',
  'com/amazonaws/aws-java-sdk-s3/1.12.262/aws-java-sdk-s3-1.12.262.jar':
    'a0cb7580178bc0d4d3558295a5bb890008478da8a6b3241989c71238b0ed3be5',
  'com/amazonaws/aws-java-sdk-kms/1.12.262/aws-java-sdk-kms-1.12.262.jar':
    'c00f5ae7b334255f661d85512e7203af9523a04fb65d0c431c2eea2003ed8ae2',
  'com/amazonaws/aws-java-sdk-sts/1.12.262/aws-java-sdk-sts-1.12.262.jar':
    '659f48d8ebc02025c5042cc4b925f62610e81f334498f1b9e7a271ce20ecbcae',
  'com/amazonaws/aws-java-sdk-dynamodb/1.12.262/aws-java-sdk-dynamodb-1.12.262.jar':
    '7af4ba06d0d9b3c2ab435089caecd0567810d203aa285f7aa72861f1964d442e',
  'com/amazonaws/jmespath-java/1.12.262/jmespath-java-1.12.262.jar':
    '9001ea993a45d82a2d3086edcbda8a40b4e012d049a70fbf071fd329c0fbd777',
  'org/apache/hadoop/hadoop-azure/3.3.4/hadoop-azure-3.3.4.jar':
    '37adcc23d4db068834acf2b21b6931b609a43cf0a9b4926c440f472af7abad01',
  'org/wildfly/openssl/wildfly-openssl/1.0.7.Final/wildfly-openssl-1.0.7.Final.jar':
    '9f7058778978ec2ad90c7224401a4b0013d93e0dd3fa0f72b25244ffa3507ca8',
  'com/google/cloud/bigdataoss/gcs-connector/hadoop3-2.2.33/gcs-connector-hadoop3-2.2.33-shaded.jar':
    'cd47e5ef4d18a97576e0421b74812b87b2cb0d580c59bbc7113f5f526d46e48b',
};

/** Identifies the content of the folder: changes whenever a jar or a source does. */
export const CONNECTORS_ID = createHash('sha256')
  .update(JSON.stringify(JARS))
  .update(Buffer.concat(Object.values(SOURCES).map((file) => readFileSync(file))))
  .digest('hex')
  .slice(0, 16);

/**
 * Fills a folder with the jars with which jobs reach object stores: Hadoop's connectors, 45 MB from Maven Central, and the file
 * system of mounts (ADR 0008), compiled with the Scala compiler that Spark ships. Adds the filter that keeps the pages of
 * Spark's daemons closed.
 * @param {object} options
 * @param {string} options.sparkHome a Spark on Hadoop 3.3.4
 * @param {string} options.javaHome
 * @param {string} options.target folder to make; complete or not at all
 * @param {string} [options.repository] mirror of Maven Central
 * @param {AbortSignal} [options.signal]
 * @throws {Error} if Spark has another Hadoop, a jar cannot be downloaded or has another checksum, or it takes longer than five
 * minutes
 */
export async function makeConnectors({ sparkHome, javaHome, target, repository, signal }) {
  const version = hadoopVersionOf(sparkHome);
  if (version !== HADOOP_VERSION)
    throw new Error(`${sparkHome} has Hadoop ${version ?? 'of no known version'}, not ${HADOOP_VERSION}`);
  const [folder, name] = [dirname(target), basename(target)];
  mkdirSync(folder, { recursive: true });
  // A set-up that was killed left this.
  for (const left of readdirSync(folder)) {
    if (left.startsWith(`${name}.`)) rmSync(join(folder, left), { recursive: true, force: true });
  }
  const draft = mkdtempSync(`${target}.`);
  const failed = new AbortController();
  const limit = withDeadline(DEADLINE_MS, failed.signal, signal);
  const parts = [
    fetchJars(JARS, draft, { repository, signal: limit }),
    compile({ sparkHome, javaHome, draft, signal: limit }),
  ];
  try {
    await Promise.all(parts);
    // Spark may run as another user than the one who prepares it.
    chmodSync(draft, 0o755);
    rmSync(target, { recursive: true, force: true });
    renameSync(draft, target);
  } finally {
    failed.abort();
    await Promise.allSettled(parts);
    rmSync(draft, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/**
 * @param {string} sparkHome
 * @returns {string | null} null if it has no Hadoop
 */
function hadoopVersionOf(sparkHome) {
  const names = readdirSync(join(sparkHome, 'jars')).map((name) => /^hadoop-client-api-(.+)\.jar$/.exec(name)?.[1]);
  return names.find(Boolean) ?? null;
}

/**
 * @param {{sparkHome: string, javaHome: string, draft: string, signal: AbortSignal}} options draft is the folder to fill
 */
async function compile({ sparkHome, javaHome, draft, signal }) {
  for (const [jar, source] of Object.entries(SOURCES)) {
    await compileScala({ sparkHome, javaHome, source, jar: join(draft, jar), signal });
  }
}

// For images: connectors.mjs SPARK_HOME JAVA_HOME TARGET
if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [sparkHome, javaHome, target] = process.argv.slice(2);
  if (!sparkHome || !javaHome || !target) {
    console.error('Usage: connectors.mjs SPARK_HOME JAVA_HOME TARGET');
    process.exit(2);
  }
  await makeConnectors({
    sparkHome,
    javaHome,
    target: resolve(target),
    repository: process.env.MAVEN_REPOSITORY_URL || undefined,
  });
}
