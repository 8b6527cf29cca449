import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { ParsedJson } from '../../../../../libs/json/strict-json';
import { NotebookError, readIpynb, type ReadNotebook } from '../../../../../libs/notebooks/ipynb';
import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { JsonParser } from '../../../../platform/http/bodies/json-parser';
import { FairBulkhead } from '../../../../platform/kernel/process/fair-bulkhead';

const MIB = 1024 * 1024;
/** Of a notebook as a file, or as a request. */
export const MAX_NOTEBOOK_BYTES = 30 * MIB;
/** Values in one: in a file each line of code is one. */
export const MAX_VALUES = 500_000;
/** Files that are in memory at once, and who waits for that. */
const READING = {
  code: 'NOTEBOOK.TOO_MANY_FILES',
  maxConcurrent: 2,
  maxQueued: 32,
  maxQueuedPerParty: 8,
  queueTimeoutMs: 30_000,
};
const BOUNDS = { values: MAX_VALUES, levels: 100 };

/** Reads .ipynb files, as strangers may have written them. */
@Injectable()
export class NotebookReader {
  private readonly bulkhead = new FairBulkhead(READING);

  constructor(private readonly parser: JsonParser) {}

  /** Throws a 400 that says why the file is no notebook, and a 503 when too many are read at once. */
  async read(tenantId: string, path: string, { sizeBytes, open }: FileToRead): Promise<ReadNotebook> {
    if (sizeBytes > MAX_NOTEBOOK_BYTES) {
      throw refused(path, `A notebook has at most ${MAX_NOTEBOOK_BYTES / MIB} MiB.`);
    }
    return this.bulkhead.run(tenantId, async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of await open()) chunks.push(chunk as Buffer);
      const parsed = await this.parser.parse(Buffer.concat(chunks), BOUNDS, 'exact');
      return notebookOf(path, () => readIpynb(valueOf(parsed)));
    });
  }
}

interface FileToRead {
  sizeBytes: number;
  open: () => Promise<Readable>;
}

/** What `read` gives; a 400 for what it says is wrong with the notebook of a file. */
function notebookOf(path: string, read: () => ReadNotebook): ReadNotebook {
  try {
    return read();
  } catch (error) {
    if (error instanceof NotebookError) throw refused(path, error.message);
    throw error;
  }
}

function valueOf(parsed: ParsedJson): object {
  if ('value' in parsed) return parsed.value;
  throw new NotebookError(faultOf(parsed));
}

function faultOf(parsed: Exclude<ParsedJson, { value: object }>): string {
  if ('fault' in parsed) return `It is not valid JSON: ${parsed.fault}.`;
  if ('unusable' in parsed) {
    const { why, of } = parsed.unusable;
    return why === 'key'
      ? `No key may be called ${of}.`
      : 'It contains half of a surrogate pair, which is no character.';
  }
  return parsed.broken === 'levels'
    ? `It is nested deeper than ${BOUNDS.levels} levels.`
    : `It has more than ${BOUNDS.values} values.`;
}

function refused(path: string, why: string) {
  return invalid('FILE.NOT_A_NOTEBOOK', `"/${path}" cannot be a notebook. ${why}`);
}
