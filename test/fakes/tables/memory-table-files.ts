import type { TableFile, TableFiles } from '../../../libs/table-schemas/table-files';
import { TableSchemaError } from '../../../libs/table-schemas/table-schema-error';

/** Files of tables in memory, by URI. */
export class MemoryTableFiles implements TableFiles {
  readonly files = new Map<string, Buffer>();
  /** URIs that were read, in order. */
  readonly reads: string[] = [];

  put(uri: string, content: string | Buffer): this {
    this.files.set(uri, Buffer.from(content));
    return this;
  }

  async read(uri: string, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
    const content = this.of(uri, signal);
    if (content.length > maxBytes) throw new TableSchemaError('too-large', `${uri} is too large.`);
    return content;
  }

  async readPart(uri: string, { start, end }: { start: number; end: number }, signal: AbortSignal): Promise<Buffer> {
    return this.of(uri, signal).subarray(start, end);
  }

  async sizeOf(uri: string, signal: AbortSignal): Promise<number> {
    return this.of(uri, signal).length;
  }

  async list(uri: string, { maxFiles }: { maxFiles: number }): Promise<TableFile[]> {
    const found = [...this.files].filter(([name]) => name.startsWith(`${uri}/`));
    if (found.length > maxFiles) throw new TableSchemaError('too-large', `There is too much in ${uri}.`);
    return found.map(([name, content]) => ({ name: name.slice(uri.length + 1), sizeBytes: content.length }));
  }

  private of(uri: string, signal: AbortSignal): Buffer {
    signal.throwIfAborted();
    this.reads.push(uri);
    const content = this.files.get(uri);
    if (!content) throw new TableSchemaError('missing', `There is no ${uri}.`);
    return content;
  }
}
