import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { ParsedJson } from '../../../../../libs/json/strict-json';
import { NotebookError, readIpynb, type ReadNotebook } from '../../../../../libs/notebooks/ipynb';
import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { JsonParser } from '../../../../platform/http/bodies/json-parser';
import { FairBulkhead } from '../../../../platform/kernel/process/fair-bulkhead';

const MIB = 1024 * 1024;
/** Maximum size of a notebook as a file or a request. */
export const MAX_NOTEBOOK_BYTES = 30 * MIB;
/** Maximum number of JSON values in a notebook; in a file each line of code is one. */
export const MAX_VALUES = 500_000;
/** Bounds the files in memory, and the queue for them. */
const READING = {
  code: 'NOTEBOOK.TOO_MANY_FILES',
  maxConcurrent: 2,
  maxQueued: 32,
  maxQueuedPerParty: 8,
  queueTimeoutMs: 30_000,
};
const BOUNDS = { values: MAX_VALUES, levels: 100 };

/** Reads untrusted .ipynb files. */
@Injectable()
export class NotebookReader {
  private readonly bulkhead = new FairBulkhead(READING);

  constructor(private readonly parser: JsonParser) {}

  /** Throws a 400 if the file is not a valid notebook, and a 503 if too many files are being read. */
  async read(tenantId: string, path: string, { sizeBytes, open }: FileToRead): Promise<ReadNotebook> {
    if (sizeBytes > MAX_NOTEBOOK_BYTES) {
      throw invalidNotebook(path, `A notebook may have at most ${MAX_NOTEBOOK_BYTES / MIB} MiB.`);
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

/** Calls `read` and throws a 400 if it finds the notebook invalid. */
function notebookOf(path: string, read: () => ReadNotebook): ReadNotebook {
  try {
    return read();
  } catch (error) {
    if (error instanceof NotebookError) throw invalidNotebook(path, error.message);
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
      ? `The key ${of} is not allowed.`
      : 'It contains half of a surrogate pair, which is not a valid character.';
  }
  return parsed.broken === 'levels'
    ? `It is nested deeper than ${BOUNDS.levels} levels.`
    : `It has more than ${BOUNDS.values} values.`;
}

function invalidNotebook(path: string, problem: string) {
  return invalid('FILE.NOT_A_NOTEBOOK', `"/${path}" cannot be read as a notebook. ${problem}`);
}
