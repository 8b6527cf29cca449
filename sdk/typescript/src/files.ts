import {
  createWorkspaceSecret,
  deleteWorkspaceFile,
  deleteWorkspaceSecret,
  downloadWorkspaceFile,
  listWorkspaceFiles,
  listWorkspaceSecrets,
  updateWorkspaceSecret,
  uploadWorkspaceFile,
} from './generated/operations.ts';
import type { WorkspaceFileRead, WorkspaceSecretRead } from './generated/types.ts';
import type { Upload } from './operation.ts';
import type { Place } from './place.ts';

const TRANSFER_MS = 600_000;

/** A local file: a path in Node, or a `File`, which a browser gets from an input or a drop. */
export type LocalSource = string | File;

/** The files of a workspace. */
export class Files {
  readonly #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  /** Uploads a local file to the path, which is its own name by default; returns the path in the workspace. */
  async upload(source: LocalSource, path?: string, options: { overwrite?: boolean } = {}): Promise<string> {
    const { name, content } =
      typeof source === 'string' ? await this.#place.context.host.open(source) : { name: source.name, content: source };
    return this.write(path ?? name, content, options);
  }

  /** Writes a file; returns its path in the workspace. */
  async write(path: string, data: Upload, { overwrite = true }: { overwrite?: boolean } = {}): Promise<string> {
    const query = { workspace_id: await this.#place.id(), path, overwrite };
    // As a Blob, text is not sent as JSON, and its length in bytes is known.
    const body = new Blob([data]);
    const { full_file_path } = await this.#place.context.transport.call(uploadWorkspaceFile, {
      query,
      body,
      headers: { 'Content-Type': 'application/octet-stream' },
      timeoutMs: TRANSFER_MS,
    });
    return full_file_path;
  }

  /** Downloads a file of the workspace. The local file appears once it is complete. */
  async download(path: string, target: string): Promise<void> {
    const query = { workspace_id: await this.#place.id(), file_path: path };
    const { body } = await this.#place.context.transport.send(downloadWorkspaceFile, { query });
    await this.#place.context.host.save(target, body ?? new Blob([]).stream());
  }

  async read(path: string): Promise<Blob> {
    const query = { workspace_id: await this.#place.id(), file_path: path };
    return this.#place.context.transport.call(downloadWorkspaceFile, { query, timeoutMs: TRANSFER_MS });
  }

  async *list(path = '', { recursive = false }: { recursive?: boolean } = {}): AsyncGenerator<WorkspaceFileRead> {
    const query = { workspace_id: await this.#place.id(), file_path: path || undefined, recursive };
    yield* this.#place.context.transport.pages(listWorkspaceFiles, { query });
  }

  async delete(path: string): Promise<void> {
    const query = { workspace_id: await this.#place.id(), file_path: path };
    await this.#place.context.transport.call(deleteWorkspaceFile, { query });
  }
}

/** The secrets of a workspace. Their values cannot be read back. */
export class Secrets {
  readonly #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  async *list(): AsyncGenerator<WorkspaceSecretRead> {
    const query = { workspace_id: await this.#place.id() };
    yield* this.#place.context.transport.pages(listWorkspaceSecrets, { query });
  }

  /** Creates or updates a secret with one value, which clusters can pass to their jobs as an environment variable. */
  async put(name: string, value: string): Promise<void> {
    const { transport } = this.#place.context;
    const query = { workspace_id: await this.#place.id() };
    const body = { secret_type: 'ENVIRONMENT VARIABLE', value } as const;
    const known = await this.#find(name);
    if (known === undefined) await transport.call(createWorkspaceSecret, { query, body: { ...body, name } });
    else await transport.call(updateWorkspaceSecret, { query: { ...query, workspace_secret_id: known }, body });
  }

  async delete(name: string): Promise<void> {
    const known = await this.#find(name);
    if (known === undefined) return;
    const query = { workspace_id: await this.#place.id(), workspace_secret_id: known };
    await this.#place.context.transport.call(deleteWorkspaceSecret, { query });
  }

  async #find(name: string): Promise<number | undefined> {
    for await (const secret of this.list()) if (secret.name === name) return secret.workspace_secret_id;
    return undefined;
  }
}
