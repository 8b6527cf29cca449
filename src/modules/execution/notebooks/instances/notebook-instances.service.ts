import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { notFound } from '../../../../platform/kernel/errors/domain-error';
import type { FileContent } from '../../../../platform/kernel/files/content';
import { idText, readAudit, writeAudit } from '../../../../platform/kernel/dto/response-fields';
import type { Page } from '../../../../platform/kernel/dto/page';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { toWire } from '../../../../platform/kernel/product/product-name';
import { clusterInfo, NOTEBOOK, type Run, type RunDetailRow, RunsService, workflowOf, workflowRef } from '../../runs';
import { notebookSelector } from '../content/dto/notebook-conf.dto';
import { NotebookDocumentsService } from '../content/notebook-documents.service';
import type {
  CreateNotebook,
  NotebookConfSummary,
  NotebookCreated,
  NotebookKill,
  NotebookListQuery,
  NotebookRead,
  NotebookSearchQuery,
} from './dto/notebook.dto';
import { kernelInfo } from './kernel-info';
import { type KernelRow, KernelsRepository } from './kernels.repository';

/**
 * Creating an instance waits this long for it to be RUNNING: clients list RUNNING instances right after the response, and wait a
 * minute if there is none.
 */
const RUNNING_WAIT_MS = 1_000;
const POLL_INTERVAL_MS = 50;

@Injectable()
export class NotebookInstancesService {
  constructor(
    private readonly transactions: Transactions,
    private readonly runs: RunsService,
    private readonly kernels: KernelsRepository,
    private readonly documents: NotebookDocumentsService,
  ) {}

  /** Starts an instance. If it gets a node at once, it is RUNNING when this returns. */
  async start(scope: WorkspaceScope, body: CreateNotebook): Promise<NotebookCreated> {
    const { arguments: runArguments, conf } = body;
    const configuration = notebookSelector(body);
    const answer = await this.transactions.run(async (tx) => {
      const run = await this.runs.submit(
        tx,
        { ...scope, kind: NOTEBOOK },
        { configuration, arguments: runArguments, conf },
      );
      await this.kernels.add(tx, run, await this.documents.currentRevision(tx, run.job_conf_id));
      return toCreated(run);
    });
    const started = await this.waitUntilStarted(Number(answer.notebook_id));
    return started ? { ...answer, notebook_status: started.status } : answer;
  }

  /** Throws a 404 if there is none: clients poll for that, and treat an empty list as a failure. */
  async list(
    scope: WorkspaceScope,
    query: NotebookListQuery | NotebookSearchQuery,
    partOfName?: string,
  ): Promise<Page<NotebookRead>> {
    const page = await this.runs.list({ ...scope, kind: NOTEBOOK }, query, {
      clusterIds: query.cluster_ids,
      configurationIds: query.notebook_conf_ids,
      statuses: query.notebook_status,
      createdByIds: query.created_by_ids,
      modifiedByIds: query.modified_by_ids,
      isUnfinished: query.isActive,
      partOfName,
      languages: query.job_type_langs,
    });
    if (page.data.length === 0) {
      throw notFound(
        'NOTEBOOK.NOT_FOUND',
        `The workspace "${scope.workspace.name}" has no notebook instance that matches the filters.`,
      );
    }
    const kernels = await this.kernels.of(page.data.map(({ run_id }) => run_id));
    return { ...page, data: page.data.map((run) => toRead(run, kernels.get(run.run_id))) };
  }

  async get(scope: WorkspaceScope, notebookId: number): Promise<NotebookRead> {
    const run = await this.runs.get({ ...scope, kind: NOTEBOOK }, notebookId);
    return toRead(run, (await this.kernels.of([run.run_id])).get(run.run_id));
  }

  async download(scope: WorkspaceScope, notebookId: number): Promise<FileContent> {
    const run = await this.runs.get({ ...scope, kind: NOTEBOOK }, notebookId);
    const revision = (await this.kernels.of([run.run_id])).get(run.run_id)?.notebook_revision_id ?? null;
    if (revision === null) {
      throw notFound('NOTEBOOK_REVISION.NOT_FOUND', `The notebook ${notebookId} was started without a document.`);
    }
    return this.documents.exportRevision(scope.tenantId, revision, run.job_conf_snapshot.name);
  }

  /** Stops an instance with its kernel. One without a node ends at once; else its agent is notified and reports the end. */
  kill(scope: WorkspaceScope, notebookId: number): Promise<NotebookKill> {
    return this.transactions.run(async (tx) => {
      const run = await this.runs.stop(tx, { ...scope, kind: NOTEBOOK }, notebookId);
      return {
        NotebookKill: { ...workflowRef(run), notebook_id: run.run_id, engine_cluster_instance_id: run.cluster_id },
      };
    });
  }

  /** Stops an instance if it still has had neither work nor a client for `minutes`. */
  async cull(notebookId: number, minutes: number): Promise<void> {
    await this.transactions.run(async (tx) => {
      const run = await this.runs.lock(tx, notebookId);
      if (run?.status !== 'RUNNING' || !(await this.kernels.isIdle(tx, notebookId, minutes))) return;
      const reason = `The notebook had neither work nor a client for ${minutes} minutes.`;
      await this.runs.stopLocked(tx, run, { reason, userId: null });
    });
  }

  /** Waits until the run is no longer SUBMITTED and returns it; returns null if that takes too long. */
  private async waitUntilStarted(runId: number): Promise<Run | null> {
    for (const until = performance.now() + RUNNING_WAIT_MS; performance.now() < until; await delay(POLL_INTERVAL_MS)) {
      const run = await this.runs.find(runId);
      if (run && run.status !== 'SUBMITTED') return run;
      // The run waits for a slot, which takes longer.
      if (run?.node_id === null) return null;
    }
    return null;
  }
}

function toCreated(run: Run): NotebookCreated {
  return {
    notebook_id: idText(run.run_id),
    notebook_conf_id: idText(run.job_conf_id),
    cluster_id: idText(run.cluster_id),
    workspace_id: idText(run.workspace_id),
    notebook_status: run.status,
    arguments: run.arguments,
    conf: run.conf,
    tenant_id: run.tenant_id,
    ...writeAudit(run),
  };
}

function toRead(run: RunDetailRow, kernel: KernelRow | undefined): NotebookRead {
  return {
    notebook_id: run.run_id,
    notebook_application_id: run.application_id,
    notebook_status: run.status,
    cluster_id: run.cluster_id,
    cluster_info: clusterInfo(run),
    workspace_id: run.workspace_id,
    notebook_conf: summary(run),
    arguments: run.arguments,
    conf: run.conf,
    kernel_info: kernel ? kernelInfo(run, kernel) : null,
    reason_code: run.reason_code,
    reason: run.reason,
    started_warm: run.started_warm,
    cold_reason: run.cold_reason,
    workflow_job_instance_details: workflowOf(run),
    tenant_id: run.tenant_id,
    ...readAudit(run),
  };
}

function summary({ job_conf_snapshot: snapshot }: RunDetailRow): NotebookConfSummary {
  const { settings, language } = snapshot;
  return {
    notebook_conf_id: snapshot.job_conf_id,
    notebook_name: snapshot.name,
    notebook_type: language.toLowerCase(),
    spark_job_type: { job_type: toWire(snapshot.job_type), language: toWire(language) },
    conf: settings.conf,
    files: settings.files,
    jars: settings.jars,
    packages: settings.packages,
    driver_memory: settings.driver_memory,
    executor_memory: settings.executor_memory,
    driver_cores: settings.driver_cores,
    total_executor_cores: settings.total_executor_cores,
    executor_cores: settings.executor_cores,
    num_executors: settings.num_executors,
  };
}
