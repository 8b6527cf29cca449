import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type {
  LogChunkResponse,
  LogStream,
  PollResponse,
  RegisterResponse,
  RunFileAddress,
} from '../../../libs/contracts/agent-protocol';
import { Config } from '../../config/config';
import { RequestBodies } from '../../platform/http/bodies/request-bodies';
import { Transactions } from '../../platform/persistence/transactions';
import { ClusterNodesService } from '../clusters/cluster-nodes.service';
import type { NodeRow } from '../clusters/clusters.contract';
import { RunReportsService } from '../jobs/run-reports.service';
import { LogsService } from '../logs/logs.service';
import { ObjectStorageFilesService } from '../object-storage-managers/object-storage-files.service';
import { WorkspaceFilesService } from '../workspaces/workspace-files.service';
import type { Poll, Register, Report } from './dto/agent.dto';
import { bearerToken } from './node-tokens';
import { NodeWakeUps } from './node-wakeups';

/** A poll ends well before the lease does: either side takes a longer silence for the end of the other. */
const LEASE_PART = 0.25;

/** The control plane's side of the agent protocol. */
@Injectable()
export class AgentsService {
  constructor(
    private readonly config: Config,
    private readonly transactions: Transactions,
    private readonly nodes: ClusterNodesService,
    private readonly runs: RunReportsService,
    private readonly files: WorkspaceFilesService,
    private readonly objectStorageFiles: ObjectStorageFilesService,
    private readonly logs: LogsService,
    private readonly wakeUps: NodeWakeUps,
    private readonly bodies: RequestBodies,
  ) {}

  async register(authorization: string | undefined, body: Register): Promise<RegisterResponse> {
    const { node, nodeToken } = await this.nodes.register(bearerToken(authorization), body.agent_id);
    return { node_id: String(node.node_id), node_token: nodeToken, lease_ms: this.config.agent.leaseMs };
  }

  /** Answers at once when the node should do something new, else when it should, or when the wait is over. */
  async poll(node: NodeRow, body: Poll, request: Request): Promise<PollResponse> {
    this.nodes.assertWanted(node);
    await this.nodes.heard(node.node_id);
    // Subscribed before the version is read: a change between the two is seen either way.
    const { woken, cancel } = this.wakeUps.subscribe(node.node_id);
    try {
      if ((await this.nodes.desiredVersion(node.node_id)) <= body.version) {
        await waitFor(woken, Math.min(body.wait_ms, this.config.agent.leaseMs * LEASE_PART), request);
      }
    } finally {
      cancel();
    }
    const current = await this.nodes.current(node.node_id);
    this.nodes.assertWanted(current);
    return {
      version: current.desired_version,
      daemons: await this.nodes.desiredDaemons(current),
      runs: await this.runs.desired(current),
      log_limit_bytes: this.config.storage.logMaxBytes,
    };
  }

  async report(node: NodeRow, body: Report): Promise<Record<string, never>> {
    await this.transactions.run(async (tx) => {
      await this.nodes.reported(tx, node.node_id, body.daemons);
      // Ends lock the cluster, and the cluster is locked before any run, as wherever slots are given.
      const endsFirst = body.runs.toSorted((a, b) => Number(b.state === 'ended') - Number(a.state === 'ended'));
      for (const report of endsFirst) await this.runs.reported(tx, node, report);
    });
    await this.nodes.heard(node.node_id);
    return {};
  }

  async runLog(
    node: NodeRow,
    runId: number,
    stream: LogStream,
    offset: number,
    request: Request,
  ): Promise<LogChunkResponse> {
    await this.runs.assertOnNode(node, runId);
    return {
      size: await this.logs.write({ kind: 'run', id: runId, stream }, offset, await this.bodies.bytes(request)),
    };
  }

  async nodeLog(node: NodeRow, stream: LogStream, offset: number, request: Request): Promise<LogChunkResponse> {
    return {
      size: await this.logs.write({ kind: 'node', id: node.node_id, stream }, offset, await this.bodies.bytes(request)),
    };
  }

  async sendRunFile(node: NodeRow, runId: number, file: RunFileAddress, response: Response): Promise<void> {
    const place = await this.runs.stagedFile(node, runId, file);
    const { tenantId, path } = place;
    if (place.kind === 'workspace') await this.files.sendToNode(tenantId, place.workspaceId, path, response);
    else await this.objectStorageFiles.sendToNode(tenantId, place.managerId, path, response);
  }
}

/** Waits for the wake-up, the deadline or the end of the connection, whichever is first. */
async function waitFor(woken: Promise<void>, ms: number, request: Request): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let closed: () => void = () => undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
    closed = resolve;
    request.once('close', closed);
  });
  await Promise.race([woken, over]);
  clearTimeout(timer);
  request.off('close', closed);
}
