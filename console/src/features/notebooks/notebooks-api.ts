import { queryOptions } from '@tanstack/react-query';
import { ApiError } from 'managed-spark/core';
import {
  createNotebook,
  deleteNotebookConf,
  exportNotebookConf,
  getKernelStatus,
  getNotebookConf,
  interruptKernel,
  killNotebook,
  listNotebooks,
  restartKernel,
  startOrGetKernel,
  updateNotebookCells,
} from 'managed-spark/operations';
import type { NotebookConfRead, NotebookRead } from 'managed-spark/types';
import { api, apiUrl } from '../../api/client';
import { orNone } from '../../shared/records';
import { type Cell, sentCell } from './cells';
import { countOf, type Output, readOutput, textOf } from './outputs';

export interface NotebookKey {
  workspaceId: number;
  notebookConfId: number;
}

/** A state that may change soon is read more often. */
const POLL_MS = 4_000;
const QUICK_POLL_MS = 1_000;
/** Instances that are looked through for one that still runs. */
const NEWEST = 10;
const UNFINISHED = new Set(['SUBMITTED', 'RUNNING', 'STOPPING', 'KILLING']);

export function isUnfinished({ notebook_status: status }: Pick<NotebookRead, 'notebook_status'>): boolean {
  return UNFINISHED.has(status);
}

const pathOf = ({ workspaceId: workspace_id }: NotebookKey) => ({ workspace_id });
const selectorOf = ({ notebookConfId: notebook_conf_id }: NotebookKey) => ({ notebook_conf_id });

/** The settings and the cells of a notebook, without outputs. */
export function readNotebook(key: NotebookKey, signal?: AbortSignal): Promise<NotebookConfRead> {
  const query = { ...selectorOf(key), with_outputs: false };
  return api.call(getNotebookConf, { path: pathOf(key), query, signal });
}

/** It is read once for a screen, which then follows the changes itself. */
export const notebookQuery = (key: NotebookKey) =>
  queryOptions({
    queryKey: ['notebook', key],
    queryFn: ({ signal }) => readNotebook(key, signal),
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });

/** The instance whose kernel the screen uses: the newest that has not ended, else the newest; null if there was none. */
export const instanceQuery = (key: NotebookKey) =>
  queryOptions({
    queryKey: ['notebook', key, 'instance'],
    queryFn: async ({ signal }): Promise<NotebookRead | null> => {
      const query = { notebook_conf_ids: [key.notebookConfId], limit: NEWEST };
      const found = await orNone(api.call(listNotebooks, { path: pathOf(key), query, signal }));
      return found.find(isUnfinished) ?? found[0] ?? null;
    },
    refetchInterval: ({ state: { data } }) =>
      data && isUnfinished(data) && !isSettled(data) ? QUICK_POLL_MS : POLL_MS,
  });

function isSettled({ notebook_status: status, kernel_info: kernel }: NotebookRead): boolean {
  return status === 'RUNNING' && (kernel?.kernel_status === 'idle' || kernel?.kernel_status === 'busy');
}

export interface KeptOutputs {
  outputs: readonly Output[];
  count: number | null;
}

interface IpynbCell {
  id?: unknown;
  outputs?: unknown;
  execution_count?: unknown;
}

/** The outputs that the server keeps, by cell. The file has them whole, unlike the cells of the API. */
export async function readOutputs(key: NotebookKey, signal?: AbortSignal): Promise<Map<string, KeptOutputs>> {
  const file = await api.call(exportNotebookConf, { path: pathOf(key), query: selectorOf(key), signal });
  const { cells } = (await new Response(file).json()) as { cells: IpynbCell[] };
  return new Map(
    cells.map(({ id, outputs, execution_count }) => [
      textOf(id),
      {
        outputs: Array.isArray(outputs) ? outputs.map(readOutput).filter((one) => one !== null) : [],
        count: countOf({ execution_count }),
      },
    ]),
  );
}

/**
 * Saves the cells, and returns the new revision. Outputs stay as they are.
 * @throws ApiError for which `isChanged` is true, if the notebook has another revision by now
 */
export async function saveCells(key: NotebookKey, cells: readonly Cell[], revision: number): Promise<number> {
  const { revision_id } = await api.call(updateNotebookCells, {
    path: { ...pathOf(key), notebook_conf_id: key.notebookConfId },
    query: { revision_id: revision },
    body: { cells: cells.map(sentCell) },
  });
  return revision_id;
}

export function isChanged(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'NOTEBOOK_CONF.CHANGED';
}

/** Removes all outputs. Those of a cell that runs stay. */
export async function clearOutputs(key: NotebookKey, cells: readonly Cell[], revision: number): Promise<void> {
  await api.call(updateNotebookCells, {
    path: { ...pathOf(key), notebook_conf_id: key.notebookConfId },
    query: { revision_id: revision },
    body: { cells: cells.map((cell) => ({ ...sentCell(cell), output: [] })) },
  });
}

export function exportUrl({ workspaceId, notebookConfId }: NotebookKey): string {
  return apiUrl(`/workspace/${workspaceId}/notebook/conf/export`, { notebook_conf_id: notebookConfId });
}

/** Address of what an instance and Spark have logged. */
export function logUrl({ workspaceId }: NotebookKey, { notebook_id: id }: NotebookRead): string {
  return apiUrl(`/workspace/${workspaceId}/notebook/${id}/log/stderr`);
}

export async function removeNotebook(key: NotebookKey): Promise<void> {
  await api.call(deleteNotebookConf, { path: pathOf(key), query: selectorOf(key) });
}

/** Starts an instance, and its kernel with it. */
export async function startInstance(key: NotebookKey): Promise<void> {
  await api.call(createNotebook, { path: pathOf(key), body: selectorOf(key) });
}

/** Names a kernel by the instance that it belongs to. */
export interface KernelKey {
  workspaceId: number;
  notebookId: number;
}

const kernelPath = ({ workspaceId, notebookId }: KernelKey) => ({ workspace_id: workspaceId, notebook_id: notebookId });

const KERNEL_CALLS = {
  interrupt: interruptKernel,
  restart: restartKernel,
  revive: startOrGetKernel,
  stop: killNotebook,
} as const;
export type KernelCall = keyof typeof KERNEL_CALLS;

export async function callKernel(call: KernelCall, key: KernelKey): Promise<void> {
  const path = kernelPath(key);
  if (call === 'stop') await api.call(KERNEL_CALLS.stop, { path });
  else await api.call(KERNEL_CALLS[call], { path });
}

/** The ids of the executions that the kernel has not answered yet, the one that runs first. */
export async function unansweredOf(key: KernelKey): Promise<string[]> {
  return (await api.call(getKernelStatus, { path: kernelPath(key) })).unanswered;
}

export function kernelSocketUrl({ workspaceId, notebookId }: KernelKey): string {
  return apiUrl(`/workspace/${workspaceId}/notebook/${notebookId}/kernel/socket`).replace(/^http/, 'ws');
}
