import type { RunSecrets, RunSpec } from '../contracts/agent-protocol';
import { SubmitError } from './submit-error';

/**
 * Returns the Spark properties that carry a run's secrets: the secret properties themselves, and those that set secret variables for
 * executors. They belong in a file that only its owner can read. Throws a SubmitError for secrets that cannot be used.
 */
export function secretProperties(secrets: RunSecrets | undefined): [string, string][] {
  if (secrets?.fault !== undefined) throw new SubmitError(secrets.fault);
  const variables = Object.entries(secretVariables(secrets)).map(([name, value]): [string, string] => {
    return [`spark.executorEnv.${name}`, value];
  });
  return [...Object.entries(secrets?.conf ?? {}), ...variables];
}

/** Spark can read secrets only from a file, and drops blanks at the beginning and end of values in it. */
export function notesAboutBlanks(secrets: RunSecrets | undefined): string[] {
  const changed = (values: Record<string, string> = {}): string[] =>
    Object.keys(values).filter((name) => /^[ \t]|[ \t]$/.test(values[name] ?? ''));
  return [
    ...changed(secrets?.conf).map(
      (name) => `Spark drops blanks at the beginning and end of the secret property ${name}.`,
    ),
    ...changed(secrets?.env).map(
      (name) =>
        `For executors, Spark drops blanks at the beginning and end of the secret variable ${name}; the driver gets them.`,
    ),
  ];
}

/** Returns the driver's secret environment variables. */
export function secretVariables(secrets: RunSecrets | undefined): Record<string, string> {
  return secrets?.env ?? {};
}

/** Returns the values that must not appear in the logs of a run: its secrets and the credentials of its metastore. */
export function secretValues({ secrets, metastore }: Pick<RunSpec, 'secrets' | 'metastore'>): string[] {
  const values = [...Object.values(secrets?.env ?? {}), ...Object.values(secrets?.conf ?? {})];
  return [...new Set([...values, ...metastoreSecrets(metastore)])];
}

const SECRET_KEY = /secret|token|password|account\.key/i;

function metastoreSecrets(metastore: RunSpec['metastore']): string[] {
  switch (metastore?.kind) {
    case 'hive':
      return Object.entries(metastore.properties).flatMap(([key, value]) => (SECRET_KEY.test(key) ? [value] : []));
    case 'unity':
      return [metastore.token];
    case 'glue':
      return [metastore.secret_access_key];
    case 'unusable':
    case undefined:
      return [];
  }
}

/** Returns a pattern of the properties whose values Spark redacts, extended by the given names. */
export function redacting(pattern: string, names: Iterable<string>): string {
  const literal = [...names].map((name) => `^${name.replace(/[^A-Za-z0-9_-]/g, '\\$&')}$`);
  return [pattern, ...literal].join('|');
}
