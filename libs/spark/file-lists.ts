import type { RunFile } from '../contracts/agent-protocol';
import { SubmitError } from './submit-error';

/**
 * Characters that Spark or Hadoop would interpret: a comma divides lists, `#` begins the fragment of a URI, a colon ends a
 * scheme, and the others make a pattern. spark-submit would look for another file, and ignores a pattern without a match.
 */
const SPECIAL = /[,#:*?[\]{}\\]/g;
const PATTERN = /[*?[{]/;

/** Whether spark-submit can be given the path of a file as it is. */
export function isPlain(path: string): boolean {
  return path.search(SPECIAL) < 0;
}

/** A name without special characters, for a file that nobody looks up by its name. */
export function plainName(name: string): string {
  return name.replace(SPECIAL, '_');
}

/** The address of a file on the node, which Spark reads back to the same path. */
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
 * How spark-submit is given a list: by its option as long as it can be, else by a system property of the same meaning.
 * spark-submit takes options and properties apart, writes them anew without escapes and joins them by commas; what is a
 * system property reaches Spark as it is. Throws a SubmitError for a list that would need both.
 */
export function givenFiles(
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
      `The pattern ${uri} cannot be beside the file "${odd.name}" in one list. Rename the file, or name the files of the pattern.`,
    );
  });
  return { argv: [], javaOptions: [quoted(`-D${property}=${addresses.join(',')}`)] };
}

/** Spark's launcher divides SPARK_SUBMIT_OPTS as a shell would. */
function quoted(option: string): string {
  return /[\s"'\\]/.test(option) ? `"${option.replaceAll(/["\\]/g, '\\$&')}"` : option;
}
