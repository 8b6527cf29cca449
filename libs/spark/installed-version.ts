import { readdir } from 'node:fs/promises';

/** Version of the Spark in this folder, which one may have been replaced by another; null if there is none. */
export async function installedVersion(sparkHome: string): Promise<string | null> {
  const names = await readdir(`${sparkHome}/jars`).catch(() => []);
  for (const name of names) {
    const version = /^spark-core_[\d.]+-(.+)\.jar$/.exec(name)?.[1];
    if (version !== undefined) return version;
  }
  return null;
}

/** Whether a Spark is of this version; what others made of it has a name after it, as in `3.5.3-amzn-1`. */
export function isVersion(installed: string, version: string): boolean {
  return installed === version || installed.startsWith(`${version}-`);
}
