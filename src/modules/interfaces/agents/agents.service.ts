import { Injectable } from '@nestjs/common';
import {
  type FramesResponse,
  type LogChunkResponse,
  type LogStream,
  type OutputStream,
  type PollResponse,
  PROTOCOL_VERSION,
  type RegisterResponse,
  type RequestsQuery,
  type RunFileAddress,
} from '../../../../libs/contracts/agent-protocol';
import { Config } from '../../../config/config';
import type { FileContent } from '../../../platform/kernel/files/content';
import { Transactions } from '../../../platform/kernel/persistence/transactions';
import { waitForNotification } from '../../../platform/kernel/notifications/long-polls';
import { type ClusterNode, ClusterNodesService } from '../../execution/clusters';
import { RunChannelsService, RunReportsService } from '../../execution/runs';
import { LogsService, ObjectStorageFilesService } from '../../infrastructure/storage';
import { WorkspaceFilesService } from '../../execution/workspaces';
import type { BootFailure, Poll, Register, Report } from './dto/agent.dto';
import { HeartbeatBatcher } from './heartbeat-batcher';
import { bearerToken } from './node-tokens';
import { NodeNotifications } from './node-notifications';
import { ReportedUtilization } from './reported-utilization';

/** A poll ends well before the lease: after a longer silence, each side considers the other dead. */
const MAX_WAIT_OF_LEASE = 0.25;
/** Polls are shortened by up to this fraction, so that nodes that started together do not keep polling together. */
const JITTER = 0.25;

/** A chunk of a log from a node. Its body is read only after the request was checked. */
interface LogChunk {
  offset: number;
  read: () => Promise<Buffer>;
}

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
    private readonly notifications: NodeNotifications,
    private readonly heartbeats: HeartbeatBatcher,
    private readonly channels: RunChannelsService,
    private readonly utilization: ReportedUtilization,
  ) {}

  async register(
    authorization: string | undefined,
    body: Register,
    protocolVersion: number | null,
  ): Promise<RegisterResponse> {
    const { node, nodeToken } = await this.nodes.register(bearerToken(authorization), {
      agentId: body.agent_id,
      protocolVersion,
    });
    return {
      node_id: String(node.node_id),
      node_token: nodeToken,
      lease_ms: this.config.agent.leaseMs,
      protocol_version: PROTOCOL_VERSION,
    };
  }

  async recordBootFailure(node: ClusterNode, { error }: BootFailure): Promise<Record<string, never>> {
    await this.transactions.run((tx) =>
      this.nodes.recordBootFailure(
        tx,
        node,
        error || 'The machine failed to boot and reported no reason; its console output may say more.',
      ),
    );
    return {};
  }

  /**
   * Returns as soon as the desired state of the node has changed, or after the wait.
   * @param gone returns a promise that resolves when the agent has disconnected
   */
  async poll(
    node: ClusterNode,
    body: Poll & { protocolVersion: number | null },
    gone: () => Promise<unknown>,
  ): Promise<PollResponse> {
    const { node_id: nodeId } = node;
    this.nodes.assertNotGone(node);
    const heartbeat = this.heartbeats.add(nodeId);
    await this.nodes.recordProtocolVersion(node, body.protocolVersion);
    if (body.utilization) this.utilization.add(nodeId, body.utilization);
    // Subscribes before it reads the version, so that a change in between is not missed.
    const { notified, cancel } = this.notifications.subscribe(nodeId);
    try {
      if ((await this.nodes.desiredVersion(nodeId)) <= body.version) {
        const maxWaitMs = Math.min(body.wait_ms, this.config.agent.leaseMs * MAX_WAIT_OF_LEASE);
        await waitForNotification(notified, maxWaitMs * (1 - JITTER * Math.random()), gone());
      }
    } finally {
      cancel();
    }
    const [desired, assigned] = await Promise.all([
      this.nodes.desired(nodeId),
      this.runs.assignedTo(nodeId),
      // The response renews the lease, so the heartbeat must be recorded before.
      heartbeat.recorded(),
    ]);
    this.nodes.assertNotGone(desired.node);
    return {
      // The two reads are not one snapshot. The lower version makes the node poll again for what only one of them has seen.
      version: Math.min(desired.node.desired_version, assigned.version),
      daemons: desired.daemons,
      runs: await this.runs.desired(desired, assigned.runs, body.version),
      log_limit_bytes: this.config.storage.logMaxBytes,
      protocol_version: PROTOCOL_VERSION,
      ...(desired.node.draining ? { drain: true } : {}),
      takes_utilization: true,
    };
  }

  async report(node: ClusterNode, body: Report): Promise<Record<string, never>> {
    const starts = await this.transactions.run(async (tx) => {
      await this.nodes.recordDaemons(tx, node.node_id, body.daemons);
      // The end of a run locks its cluster, and clusters are always locked before runs.
      const endsFirst = body.runs.toSorted((a, b) => Number(b.state === 'ended') - Number(a.state === 'ended'));
      const counted = { warm: 0, cold: 0 };
      for (const report of endsFirst) {
        const start = await this.runs.applyReport(tx, node, report);
        if (start !== null) counted[start] += 1;
      }
      return counted;
    });
    await this.nodes.recordReport(node, { ...body, starts });
    await this.runs.reportsCommitted(node, body.runs);
    await this.heartbeats.add(node.node_id).recorded();
    return {};
  }

  async runLog(
    node: ClusterNode,
    runId: number,
    stream: LogStream,
    { offset, read }: LogChunk,
  ): Promise<LogChunkResponse> {
    await this.runs.getOnNode(node, runId);
    return { size: await this.logs.write({ kind: 'run', id: runId, stream }, offset, await read()) };
  }

  async nodeLog(node: ClusterNode, stream: OutputStream, { offset, read }: LogChunk): Promise<LogChunkResponse> {
    return { size: await this.logs.write({ kind: 'node', id: node.node_id, stream }, offset, await read()) };
  }

  /**
   * Returns records of requests to the run's process, and waits if there are none.
   * @param gone returns a promise that resolves when the agent has disconnected
   */
  async requests(
    node: ClusterNode,
    runId: number,
    query: RequestsQuery,
    gone: () => Promise<unknown>,
  ): Promise<Buffer> {
    await this.runs.getOnNode(node, runId);
    return this.channels.pollRequests(runId, query, gone);
  }

  /** @param read reads the body; called only after the run was found to be on the node */
  async frames(node: ClusterNode, runId: number, read: () => Promise<Buffer>): Promise<FramesResponse> {
    const { run_id, tenant_id, job_conf_snapshot } = await this.runs.getOnNode(node, runId);
    return this.channels.receiveFrames({ run_id, tenant_id, job_type: job_conf_snapshot.job_type }, await read());
  }

  async runFile(node: ClusterNode, runId: number, file: RunFileAddress): Promise<FileContent> {
    const place = await this.runs.stagedFile(node, runId, file);
    const { tenantId, path } = place;
    return place.kind === 'workspace'
      ? this.files.openForNode(tenantId, place.workspaceId, path, place.isFolder)
      : this.objectStorageFiles.openForNode(tenantId, place.managerId, path);
  }
}
