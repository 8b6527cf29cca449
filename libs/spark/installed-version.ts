import { readdir } from 'node:fs/promises';

/** Returns the version of the Spark in this folder, where a user may have replaced it; null if there is none. */
export async function installedVersion(sparkHome: string): Promise<string | null> {
  const names = await readdir(`${sparkHome}/jars`).catch(() => []);
  for (const name of names) {
    const version = /^spark-core_[\d.]+-(.+)\.jar$/.exec(name)?.[1];
    if (version !== undefined) return version;
  }
  return null;
}

/** Returns true if a Spark is of this version. Vendors append a suffix, as in `3.5.3-amzn-1`. */
export function isVersion(installed: string, version: string): boolean {
  return installed === version || installed.startsWith(`${version}-`);
}
