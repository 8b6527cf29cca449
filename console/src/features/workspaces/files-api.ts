import { queryOptions } from '@tanstack/react-query';
import { ApiError, NotFound } from 'managed-spark/core';
import {
  deleteWorkspaceFile,
  downloadWorkspaceFile,
  getWorkspaceFile,
  listWorkspaceFiles,
  moveWorkspaceFile,
  searchWorkspaceFiles,
  uploadWorkspaceFile,
} from 'managed-spark/operations';
import type { WorkspaceFilePage, WorkspaceFileRead } from 'managed-spark/types';
import { api, apiUrl } from '../../api/client';

const PAGE_SIZE = 1000;
/** So many entries of a folder are shown; a search finds the others. */
export const MAX_ENTRIES = 20_000;
const MAX_FOUND = 1000;
/** The editor takes files up to this size. */
export const MAX_EDITED_BYTES = 2_000_000;

interface Listing {
  files: WorkspaceFileRead[];
  /** True if there are more entries than are shown. */
  isCut: boolean;
}

type FilesPage = Pick<WorkspaceFilePage, 'data'> & { result_set: WorkspaceFilePage['result_set'] | null };

/** Lists a folder, or everything below it that has the text in its name. */
export const filesQuery = (workspaceId: number, folder: string, partOfName: string) =>
  queryOptions({
    queryKey: ['files', workspaceId, 'list', folder, partOfName],
    queryFn: ({ signal }) =>
      partOfName === '' ? listFolder(workspaceId, folder, signal) : findFiles(workspaceId, folder, partOfName, signal),
    placeholderData: (before, query) => (query?.queryKey[3] === folder ? before : undefined),
  });

export const fileQuery = (workspaceId: number, path: string) =>
  queryOptions({
    queryKey: ['files', workspaceId, 'file', path],
    queryFn: ({ signal }) =>
      api.call(getWorkspaceFile, { query: { workspace_id: workspaceId, file_path: path }, signal }),
  });

export interface TextFile {
  file: WorkspaceFileRead;
  /** Null if the file is too large, or no text. */
  text: string | null;
}

/** A file with its text. It is read once, because somebody may be editing it. */
export const textQuery = (workspaceId: number, path: string) =>
  queryOptions({
    queryKey: ['files', workspaceId, 'text', path],
    queryFn: ({ signal }) => readText(workspaceId, path, signal),
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });

export function downloadUrl(workspaceId: number, path: string): string {
  return apiUrl('/workspace/file/download', { workspace_id: workspaceId, file_path: path });
}

export async function deleteFile(workspaceId: number, path: string): Promise<void> {
  await api.call(deleteWorkspaceFile, { query: { workspace_id: workspaceId, file_path: path } });
}

export async function moveFile(workspaceId: number, from: string, to: string): Promise<void> {
  const query = { workspace_id: workspaceId, source_file_path: from, destination_file_path: to };
  await api.call(moveWorkspaceFile, { query });
}

export async function makeFolder(workspaceId: number, path: string): Promise<void> {
  await api.call(uploadWorkspaceFile, { query: { workspace_id: workspaceId, path, is_dir: true } });
}

export async function makeFile(workspaceId: number, path: string): Promise<void> {
  await api.call(uploadWorkspaceFile, { query: { workspace_id: workspaceId, path }, body: new Blob([]) });
}

/**
 * Replaces the text of a file. Returns the time of its new version.
 * @param unchangedSince the version that was edited; null to replace whatever is there
 */
export async function saveText(
  workspaceId: number,
  path: string,
  text: string,
  unchangedSince: string | null,
): Promise<string> {
  const { last_update_date } = await api.call(uploadWorkspaceFile, {
    query: { workspace_id: workspaceId, path, overwrite: true, unchanged_since: unchangedSince },
    body: new Blob([text]),
    headers: { 'Content-Type': 'application/octet-stream' },
  });
  return last_update_date;
}

/** True for the answer to an edit of a file that somebody else has changed in the meantime. */
export function changedSince(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'FILE.CHANGED';
}

export async function readText(workspaceId: number, path: string, signal?: AbortSignal): Promise<TextFile> {
  const query = { workspace_id: workspaceId, file_path: path };
  // The version is read before the text: a change in between is then found when the text is saved.
  const file = await api.call(getWorkspaceFile, { query, signal });
  if (file.is_dir || (file.file_size_bytes ?? 0) > MAX_EDITED_BYTES) return { file, text: null };
  const content = await api.call(downloadWorkspaceFile, { query, signal });
  return { file, text: textOf(await content.arrayBuffer()) };
}

/** Returns null for bytes that are no text. */
function textOf(content: ArrayBuffer): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

async function listFolder(workspaceId: number, folder: string, signal: AbortSignal): Promise<Listing> {
  const query = { workspace_id: workspaceId, limit: PAGE_SIZE, file_path: folder === '' ? undefined : folder };
  return collected(
    (pageNumber) => api.call(listWorkspaceFiles, { query: { ...query, pageNumber }, signal }),
    MAX_ENTRIES,
  );
}

async function findFiles(workspaceId: number, folder: string, name: string, signal: AbortSignal): Promise<Listing> {
  const query = {
    workspace_id: workspaceId,
    file_name: name,
    limit: PAGE_SIZE,
    recursive: true,
    file_path: folder === '' ? undefined : folder,
  };
  return collected(
    (pageNumber) => api.call(searchWorkspaceFiles, { query: { ...query, pageNumber }, signal }),
    MAX_FOUND,
  );
}

async function collected(page: (pageNumber: number) => Promise<WorkspaceFilePage>, most: number): Promise<Listing> {
  const files: WorkspaceFileRead[] = [];
  for (let next: number | null = 1; next !== null;) {
    if (files.length >= most) return { files, isCut: true };
    const { data, result_set }: FilesPage = await page(next).catch(noneFound);
    files.push(...data);
    next = data.length > 0 ? (result_set?.next_page ?? null) : null;
  }
  return { files, isCut: false };
}

/** A folder without files is answered by a 404. */
function noneFound(error: unknown): FilesPage {
  if (error instanceof NotFound) return { data: [], result_set: null };
  throw error;
}
