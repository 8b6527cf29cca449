import { Injectable } from '@nestjs/common';
import type { WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { conflict, invalid, notFound, tooMany } from '../../../../platform/kernel/errors/domain-error';
import { idText } from '../../../../platform/kernel/dto/response-fields';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { isFinished, NOTEBOOK, type Run, RunChannelsService, type RunDetailRow, RunsService } from '../../runs';
import { NotebookOutputsService } from '../content/notebook-outputs.service';
import type { KernelSocket, KernelStatus } from './dto/notebook.dto';
import type { Kernel } from './entities/kernel.entity';
import { kernelInfo } from './kernel-info';
import { cellOf, type ClientRequest, repliesTo } from './kernel-messages';
import { kernelRuns } from './kernel-state';
import { KernelsRepository } from './kernels.repository';

/** Per instance. */
const MAX_UNANSWERED_REQUESTS = 1_000;

/** Content of the reply for a cell that is not code. */
const EMPTY_REPLY = { status: 'ok', execution_count: 0, user_expressions: {}, payload: [] };

type LockedKernel = Kernel & Pick<Run, 'status'>;

/** The state of kernels of notebook instances, and the requests to them. */
@Injectable()
export class KernelsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly runs: RunsService,
    private readonly kernels: KernelsRepository,
    private readonly channels: RunChannelsService,
    private readonly outputs: NotebookOutputsService,
  ) {}

  async status(scope: WorkspaceScope, notebookId: number): Promise<KernelStatus> {
    const run = await this.runs.get({ ...scope, kind: NOTEBOOK }, notebookId);
    const kernel = (await this.kernels.of([run.run_id])).get(run.run_id);
    if (!kernel) throw notFound('KERNEL.NOT_FOUND', `The notebook ${notebookId} has no kernel.`);
    return {
      notebook_id: idText(run.run_id),
      kernel_info: kernelInfo(run, kernel),
      unanswered: isFinished(run.status) ? [] : await this.kernels.unanswered(run.run_id, MAX_UNANSWERED_REQUESTS),
    };
  }

  /** A kernel starts with its instance, so only a dead kernel is started here. */
  async startOrGet(scope: WorkspaceScope, notebookId: number): Promise<KernelStatus> {
    await this.change(scope, notebookId, async (tx, kernel) => {
      if (kernel.status !== 'RUNNING') throw notRunning(kernel);
      if (kernel.state === 'dead') await this.startNext(tx, kernel);
    });
    return this.status(scope, notebookId);
  }

  /** Interrupts the running cell and its Spark jobs; waiting requests are aborted. */
  async interrupt(scope: WorkspaceScope, notebookId: number): Promise<KernelStatus> {
    await this.change(scope, notebookId, async (tx, kernel) => {
      assertRuns(kernel);
      await this.send(tx, kernel, { op: 'interrupt' });
    });
    return this.status(scope, notebookId);
  }

  /** Ends the kernel with its state and starts another one; waiting requests are aborted. */
  async restart(scope: WorkspaceScope, notebookId: number): Promise<KernelStatus> {
    await this.change(scope, notebookId, async (tx, kernel) => {
      assertRuns(kernel);
      await this.startNext(tx, kernel);
    });
    return this.status(scope, notebookId);
  }

  /** Says how to open a socket to the kernel; throws a 400 if the instance has ended. */
  async socket(scope: WorkspaceScope, notebookId: number): Promise<KernelSocket> {
    const run = await this.runs.get({ ...scope, kind: NOTEBOOK }, notebookId);
    const kernel = (await this.kernels.of([run.run_id])).get(run.run_id);
    if (!kernel || isFinished(run.status)) {
      throw invalid(
        'NOTEBOOK.INVALID_STATE',
        `The notebook ${notebookId} is ${run.status}, so it has no kernel. Start a new instance.`,
      );
    }
    return {
      message: 'Open a WebSocket at this path, followed by the session key and a token.',
      notebook_id: idText(run.run_id),
      kernel_id: kernel.kernel_id,
    };
  }

  /** Returns the instance for a socket; throws a 409 if it is not RUNNING. */
  async connectable(scope: WorkspaceScope, notebookId: number): Promise<RunDetailRow> {
    const run = await this.runs.get({ ...scope, kind: NOTEBOOK }, notebookId);
    if (run.status !== 'RUNNING') throw notRunning(run);
    return run;
  }

  /**
   * Sends a client's message to the kernel and returns the texts of immediate replies. An execute request that was sent before is
   * not executed again: its reply is repeated if it has arrived.
   */
  async submit(run: Pick<Run, 'run_id' | 'tenant_id' | 'job_conf_id'>, request: ClientRequest): Promise<string[]> {
    const { msgId, type, message } = request;
    return this.transactions.run(async (tx) => {
      const kernel = await this.kernels.lock(tx, run.run_id);
      if (kernel?.status !== 'RUNNING') throw notRunning(kernel ?? { ...run, status: 'STOPPED' });
      if (type === 'interrupt_request') {
        await this.send(tx, kernel, { op: 'interrupt' });
        return [];
      }
      if (type === 'execute_request') {
        const cellType = (await this.outputs.cellTypes(tx, run.job_conf_id, [cellOf(msgId)])).get(cellOf(msgId));
        // Only code can be executed.
        if (cellType !== undefined && cellType !== 'code') return repliesTo(msgId, EMPTY_REPLY);
        if ((await this.kernels.waiting(tx, run.run_id, MAX_UNANSWERED_REQUESTS)) >= MAX_UNANSWERED_REQUESTS) {
          throw tooMany(
            'KERNEL.TOO_MANY_REQUESTS',
            `${MAX_UNANSWERED_REQUESTS} requests are already waiting for the kernel of the notebook ${run.run_id}. Try again later.`,
          );
        }
        const known = await this.kernels.recordRequest(tx, kernel, msgId);
        if (known) return known.answered_at === null ? [] : repliesTo(msgId, known.reply ?? { status: 'ok' });
      }
      await this.send(tx, kernel, { op: 'message', generation: kernel.generation, message });
      return [];
    });
  }

  private async startNext(tx: Tx, kernel: LockedKernel): Promise<void> {
    const generation = await this.kernels.nextGeneration(tx, kernel.run_id);
    await this.send(tx, kernel, { op: 'restart', generation });
  }

  private async send(tx: Tx, kernel: LockedKernel, request: object): Promise<void> {
    await this.channels.send(tx, kernel, Buffer.from(JSON.stringify(request)));
  }

  private async change(
    scope: WorkspaceScope,
    notebookId: number,
    work: (tx: Tx, kernel: LockedKernel) => Promise<void>,
  ): Promise<void> {
    await this.transactions.run(async (tx) => {
      const run = await this.runs.get({ ...scope, kind: NOTEBOOK }, notebookId, tx);
      const kernel = await this.kernels.lock(tx, run.run_id);
      if (!kernel) throw notFound('KERNEL.NOT_FOUND', `The notebook ${notebookId} has no kernel.`);
      await work(tx, kernel);
    });
  }
}

function notRunning({ run_id, status }: Pick<Run, 'run_id' | 'status'>): Error {
  return conflict(
    'NOTEBOOK.NOT_RUNNING',
    `The notebook ${run_id} is ${status}; its kernel is available only while it is RUNNING.`,
    {
      notebook_status: status,
    },
  );
}

function assertRuns(kernel: LockedKernel): void {
  if (kernelRuns(kernel.status, kernel.state)) return;
  if (kernel.status !== 'RUNNING') throw notRunning(kernel);
  throw conflict('KERNEL.NOT_RUNNING', `The kernel of the notebook ${kernel.run_id} is dead. Start it first.`);
}
