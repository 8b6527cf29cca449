import { useSyncExternalStore } from 'react';
import { refusalOf, Unreachable } from 'managed-spark/core';
import { apiUrl } from '../../api/client';

export type UploadState = 'waiting' | 'sending' | 'done' | 'exists' | 'kept' | 'stopped' | 'failed';

export interface Upload {
  id: number;
  workspaceId: number;
  path: string;
  size: number;
  sent: number;
  state: UploadState;
  error: unknown;
}

interface Entry extends Upload {
  file: File;
  overwrite: boolean;
  request: XMLHttpRequest | null;
}

/** So many files are sent at a time. */
const AT_ONCE = 3;
/** So many files are kept in the list; more of them belong into an archive. */
export const MAX_UPLOADS = 1000;
/** An upload that makes no progress for this time is ended. */
const STALL_MS = 60_000;
/** The list is drawn again so often at most, however fast bytes leave. */
const DRAW_MS = 100;

/** Sends files to workspaces. It lives as long as the page, so uploads go on when another screen is shown. */
class UploadQueue {
  #entries: Entry[] = [];
  #shown: readonly Upload[] = [];
  #nextId = 1;
  #timer: ReturnType<typeof setTimeout> | null = null;
  readonly #listeners = new Set<() => void>();

  /** Called when a file has arrived. */
  onDone: (workspaceId: number) => void = () => undefined;

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly list = (): readonly Upload[] => this.#shown;

  /** Returns the number of files that were taken. */
  add(workspaceId: number, files: readonly { path: string; file: File }[]): number {
    const taken = files.slice(0, Math.max(0, MAX_UPLOADS - this.#entries.length));
    for (const { path, file } of taken) {
      const id = this.#nextId++;
      this.#entries.push({
        ...{ id, workspaceId, path, file, size: file.size },
        ...{ sent: 0, state: 'waiting', error: null, overwrite: false, request: null },
      });
    }
    this.#pump();
    return taken.length;
  }

  /** Sends files again, over those that exist. */
  replace(ids: readonly number[]): void {
    this.#each(ids, (entry) => Object.assign(entry, { state: 'waiting', sent: 0, overwrite: true }));
  }

  again(id: number): void {
    this.#each([id], (entry) => Object.assign(entry, { state: 'waiting', sent: 0, error: null }));
  }

  keep(id: number): void {
    this.#each([id], (entry) => Object.assign(entry, { state: 'kept' }));
  }

  stop(id: number): void {
    this.#each([id], (entry) => {
      entry.state = 'stopped';
      entry.request?.abort();
    });
  }

  /** Forgets the uploads of a workspace that are not under way. */
  clear(workspaceId: number): void {
    this.#entries = this.#entries.filter((entry) => entry.workspaceId !== workspaceId || isUnderWay(entry));
    this.#draw();
  }

  #each(ids: readonly number[], change: (entry: Entry) => unknown): void {
    for (const entry of this.#entries) if (ids.includes(entry.id)) change(entry);
    this.#pump();
  }

  #pump(): void {
    const free = AT_ONCE - this.#entries.filter(({ state }) => state === 'sending').length;
    const waiting = this.#entries.filter(({ state }) => state === 'waiting').slice(0, Math.max(0, free));
    for (const entry of waiting) this.#send(entry);
    this.#draw();
  }

  /** `fetch` does not tell how much it has sent, so this is a request of the older kind. */
  #send(entry: Entry): void {
    const { workspaceId, path, file, overwrite } = entry;
    const request = new XMLHttpRequest();
    Object.assign(entry, { state: 'sending', request });
    let stall: ReturnType<typeof setTimeout>;
    const live = () => {
      clearTimeout(stall);
      stall = setTimeout(() => request.abort(), STALL_MS);
    };
    request.upload.addEventListener('progress', ({ loaded }) => {
      live();
      entry.sent = Math.min(loaded, entry.size);
      this.#drawSoon();
    });
    request.addEventListener('loadend', () => {
      clearTimeout(stall);
      entry.request = null;
      this.#settle(entry, request);
    });
    request.open('POST', apiUrl('/workspace/files', { workspace_id: workspaceId, path, overwrite }));
    request.responseType = 'json';
    request.setRequestHeader('x-console', '1');
    request.setRequestHeader('x-file-size', String(file.size));
    request.setRequestHeader('Content-Type', 'application/octet-stream');
    live();
    request.send(file);
  }

  #settle(entry: Entry, { status, response }: XMLHttpRequest): void {
    const refusal = status >= 400 ? refusalOf(status, response) : null;
    if (status >= 200 && status < 300) {
      Object.assign(entry, { state: 'done', sent: entry.size });
      this.onDone(entry.workspaceId);
    } else if (refusal?.code === 'FILE.EXISTS') entry.state = 'exists';
    else if (entry.state === 'sending') {
      const error = refusal ?? new Unreachable('The connection ended before the file had arrived.');
      Object.assign(entry, { state: 'failed', error });
    }
    this.#pump();
  }

  #drawSoon(): void {
    this.#timer ??= setTimeout(() => this.#draw(), DRAW_MS);
  }

  #draw(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#shown = this.#entries.map((entry) => ({ ...entry }));
    for (const listener of this.#listeners) listener();
  }
}

export const uploads = new UploadQueue();

/** The uploads of a workspace, as they are now. */
export function useUploads(workspaceId: number): Upload[] {
  const all = useSyncExternalStore(uploads.subscribe, uploads.list);
  return all.filter((upload) => upload.workspaceId === workspaceId);
}

export function isUnderWay({ state }: Pick<Upload, 'state'>): boolean {
  return state === 'waiting' || state === 'sending';
}

/** Returns the files that were dropped, those in folders with their paths. */
export async function droppedFiles({ items, files }: DataTransfer): Promise<{ path: string; file: File }[]> {
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  if (entries.length === 0) return chosenFiles(files);
  const found: { path: string; file: File }[] = [];
  // Each file of a folder must be opened, so no more are collected than are taken.
  for (const entry of entries) await collect(entry, found);
  return found;
}

export function chosenFiles(files: FileList | null): { path: string; file: File }[] {
  return [...(files ?? [])].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

async function collect(entry: FileSystemEntry, found: { path: string; file: File }[]): Promise<void> {
  if (found.length > MAX_UPLOADS) return;
  if (entry instanceof FileSystemFileEntry) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject));
    found.push({ path: entry.fullPath.replace(/^\//, ''), file });
  } else if (entry instanceof FileSystemDirectoryEntry) {
    const reader = entry.createReader();
    // A reader answers a hundred entries at a time, and none at the end.
    for (let part = await nextEntries(reader); part.length > 0; part = await nextEntries(reader)) {
      for (const below of part) await collect(below, found);
    }
  }
}

function nextEntries(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  return new Promise((resolve, reject) => reader.readEntries(resolve, reject));
}
