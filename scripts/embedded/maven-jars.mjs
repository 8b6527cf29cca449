import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const MAVEN_CENTRAL = 'https://repo1.maven.org/maven2';
const DOWNLOAD_TRIES = 3;

/**
 * Downloads jars into a folder.
 * @param {Record<string, string>} jars SHA-256 in hex by the path in a Maven repository
 * @param {string} folder
 * @param {object} options
 * @param {string} [options.repository] mirror of Maven Central
 * @param {AbortSignal} options.signal
 * @throws {Error} if one cannot be downloaded or has another checksum
 */
export async function fetchJars(jars, folder, { repository = MAVEN_CENTRAL, signal }) {
  const downloads = Object.entries(jars).map(async ([path, sha256]) => {
    const jar = await download(`${repository.replace(/\/+$/, '')}/${path}`, sha256, signal);
    writeFileSync(join(folder, basename(path)), jar);
  });
  await Promise.all(downloads);
}

class DownloadError extends Error {
  /** @param {string} message @param {boolean} permanent true if another attempt would fail alike */
  constructor(message, permanent) {
    super(message);
    this.permanent = permanent;
  }
}

/** @param {string} url @param {string} sha256 @param {AbortSignal} signal */
async function download(url, sha256, signal) {
  for (let tries = 1; ; tries += 1) {
    try {
      const answer = await fetch(url, { signal });
      if (!answer.ok) throw new DownloadError(`${url} was answered with ${answer.status}`, answer.status < 500);
      const bytes = Buffer.from(await answer.arrayBuffer());
      if (createHash('sha256').update(bytes).digest('hex') === sha256) return bytes;
      throw new DownloadError(`${url} has the wrong checksum`, true);
    } catch (error) {
      const permanent = error instanceof DownloadError && error.permanent;
      if (signal.aborted || permanent || tries === DOWNLOAD_TRIES)
        throw new Error(reasonOf(/** @type {Error} */ (error), url), { cause: error });
      await delay(tries * 1_000, undefined, { signal });
    }
  }
}

/**
 * Returns the cause of a failed fetch, whose own message says only that it failed.
 * @param {Error} error
 * @param {string} url
 */
function reasonOf(error, url) {
  if (error.message !== 'fetch failed') return error.message;
  return `${url}: ${error.cause instanceof Error ? error.cause.message : 'no connection'}`;
}
