import type { RunFile } from '../contracts/agent-protocol';
import { SubmitError } from './submit-error';

/**
 * Characters that Spark or Hadoop interprets: a comma separates list entries, `#` starts the fragment of a URI, a colon ends a scheme,
 * and the others form a pattern. spark-submit would look for another file, and it ignores a pattern without a match.
 */
const SPECIAL = /[,#:*?[\]{}\\]/g;
const PATTERN = /[*?[{]/;

/** Returns true if spark-submit takes the path of a file literally. */
export function isPlain(path: string): boolean {
  return path.search(SPECIAL) < 0;
}

/** Returns the name without special characters, for a file that no code looks up by name. */
export function plainName(name: string): string {
  return name.replace(SPECIAL, '_');
}

/** Returns the URI of a file on the node, which Spark decodes to the same path. */
export function fileUri(path: string): string {
  const encoded = (name: string): string =>
    encodeURIComponent(name).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
  return `file://${path.toWellFormed().split('/').map(encoded).join('/')}`;
}

/** Files whose names Spark's jobs look up. */
export interface FileList {
  property: 'spark.files' | 'spark.archives';
  option: '--files' | '--archives';
  files: readonly RunFile[];
}

/**
 * Returns the arguments that pass a list to spark-submit: its option if no path has special characters, otherwise a system property of
 * the same meaning. spark-submit splits options and properties and joins them by commas without escapes, but passes a system property
 * to Spark unchanged. Throws a SubmitError for a list that would need both.
 */
export function fileArguments(
  { property, option, files }: FileList,
  locate: (file: RunFile) => string,
): { argv: string[]; javaOptions: string[] } {
  if (files.length === 0) return { argv: [], javaOptions: [] };
  const folder = ({ alias }: RunFile): string => (alias === undefined ? '' : `#${alias}`);
  const odd = files.find((file) => file.kind === 'fetched' && !isPlain(locate(file)));
  if (!odd) return { argv: [option, files.map((file) => locate(file) + folder(file)).join(',')], javaOptions: [] };
  const addresses = files.map((file) => {
    if (file.kind === 'fetched') return fileUri(locate(file)) + folder(file);
    const uri = locate(file);
    if (!PATTERN.test(uri)) return uri;
    throw new SubmitError(
      `The pattern ${uri} cannot be in one list with the file "${odd.name}". Rename the file, or name the files of the pattern.`,
    );
  });
  return { argv: [], javaOptions: [quoted(`-D${property}=${addresses.join(',')}`)] };
}

/** Spark's launcher splits SPARK_SUBMIT_OPTS like a shell. */
function quoted(option: string): string {
  return /[\s"'\\]/.test(option) ? `"${option.replaceAll(/["\\]/g, '\\$&')}"` : option;
}
