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

/** A poll ends well before the lease does: each side takes a longer silence for the end of the other. */
const LEASE_PART = 0.25;
/** By how much a poll may be shorter, so that nodes whose polls began together do not stay together. */
const SPREAD = 0.25;

/** A piece of a log that a node sends; it is read only once it is known to be wanted. */
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
    private readonly wakeUps: NodeNotifications,
    private readonly heard: HeartbeatBatcher,
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

  /** Records why the machine of a node will have no agent. */
  async recordBootFailure(node: ClusterNode, { error }: BootFailure): Promise<Record<string, never>> {
    await this.transactions.run((tx) =>
      this.nodes.recordBootFailure(tx, node, error || 'The machine failed to boot and did not say why.'),
    );
    return {};
  }

  /**
   * Answers as soon as the node should do something new, or when the wait is over.
   * @param gone returns a promise that resolves when nobody waits for the answer any longer
   */
  async poll(
    node: ClusterNode,
    body: Poll & { protocolVersion: number | null },
    gone: () => Promise<unknown>,
  ): Promise<PollResponse> {
    const { node_id: nodeId } = node;
    this.nodes.assertNotGone(node);
    const sign = this.heard.note(nodeId);
    await this.nodes.recordProtocolVersion(node, body.protocolVersion);
    if (body.utilization) this.utilization.note(nodeId, body.utilization);
    // Subscribed before the version is read: a change between the two is seen either way.
    const { notified, cancel } = this.wakeUps.subscribe(nodeId);
    try {
      if ((await this.nodes.desiredVersion(nodeId)) <= body.version) {
        const longest = Math.min(body.wait_ms, this.config.agent.leaseMs * LEASE_PART);
        await waitForNotification(notified, longest * (1 - SPREAD * Math.random()), gone());
      }
    } finally {
      cancel();
    }
    const [told, assigned] = await Promise.all([
      this.nodes.desired(nodeId),
      this.runs.assignedTo(nodeId),
      // The answer renews the lease.
      sign.recorded(),
    ]);
    this.nodes.assertNotGone(told.node);
    return {
      // Read at the same time, not in one moment: the node asks again for what only one of them has seen.
      version: Math.min(told.node.desired_version, assigned.version),
      daemons: told.daemons,
      runs: await this.runs.desired(told, assigned.runs, body.version),
      log_limit_bytes: this.config.storage.logMaxBytes,
      protocol_version: PROTOCOL_VERSION,
      ...(told.node.draining ? { drain: true } : {}),
      takes_utilization: true,
    };
  }

  async report(node: ClusterNode, body: Report): Promise<Record<string, never>> {
    await this.transactions.run(async (tx) => {
      await this.nodes.recordDaemons(tx, node.node_id, body.daemons);
      // The end of a run locks the cluster, and the cluster must be locked before any run, as it is whenever slots are
      // given.
      const endsFirst = body.runs.toSorted((a, b) => Number(b.state === 'ended') - Number(a.state === 'ended'));
      for (const report of endsFirst) await this.runs.applyReport(tx, node, report);
    });
    await this.nodes.recordReport(node, body);
    await this.runs.reportsCommitted(node, body.runs);
    await this.heard.note(node.node_id).recorded();
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
   * Records of what the run's process is asked; waits for some.
   * @param gone returns a promise that resolves when nobody waits for the answer any longer
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

  /** @param read reads the records; called only once the run is known to belong to the node */
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
