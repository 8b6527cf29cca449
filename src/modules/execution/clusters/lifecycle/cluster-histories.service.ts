import { Injectable } from '@nestjs/common';
import type { OutputStream } from '../../../../../libs/contracts/agent-protocol';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { notFound } from '../../../../platform/kernel/errors/domain-error';
import type { ByteRange, LogSlice } from '../../../../platform/kernel/files/content';
import { openEnded } from '../../../../platform/kernel/dto/response-fields';
import { type Page, pageOf, type PageRequest } from '../../../../platform/kernel/dto/page';
import type { RecordSelector } from '../../../../platform/kernel/dto/selector';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { workflowErrors } from '../../../../platform/background/workflows/workflow-errors';
import { LogsService } from '../../../infrastructure/storage';
import { ClusterHistoriesRepository, type EnteredState, type StateFacts } from './cluster-histories.repository';
import { ClusterRowsRepository } from '../model/cluster-rows.repository';
import type {
  ClusterErrorRead,
  ClusterNodeStateEvent,
  ClusterStateEvent,
  NodeLogQuery,
} from './dto/cluster-histories.dto';
import type { Cluster } from '../model/entities/cluster.entity';

@Injectable()
export class ClusterHistoriesService {
  constructor(
    private readonly transactions: Transactions,
    private readonly clusters: ClusterRowsRepository,
    private readonly repository: ClusterHistoriesRepository,
    private readonly logs: LogsService,
  ) {}

  async states(scope: TenantScope, selector: RecordSelector, page: PageRequest): Promise<Page<ClusterStateEvent>> {
    const cluster = await this.clusters.identify(scope, selector);
    const states = await this.repository.states(cluster.cluster_id, page);
    return {
      ...states,
      data: states.data.map((state) => ({
        cluster_status_id: state.cluster_state_id,
        cluster_status: state.status,
        current_node_size: state.node_count,
        ...stateFacts(state),
      })),
    };
  }

  async nodeStates(
    scope: TenantScope,
    selector: RecordSelector,
    nodeNumber: number | undefined,
    page: PageRequest,
  ): Promise<Page<ClusterNodeStateEvent>> {
    const cluster = await this.clusters.identify(scope, selector);
    const states = await this.repository.nodeStates(cluster.cluster_id, nodeNumber, page);
    return {
      ...states,
      data: states.data.map((state) => ({
        node_status_id: state.node_state_id,
        node_number: state.node_number,
        node_status: state.status,
        ...(state.cluster_state_id === null ? {} : { cluster_status_id: state.cluster_state_id }),
        ...stateFacts(state),
      })),
    };
  }

  /**
   * Returns the state of a cluster at a time and those that it and its nodes entered until another, oldest first, at most `limit` of
   * each. The caller has checked the cluster's tenant.
   */
  between(clusterId: number, from: Date, to: Date, limit: number): Promise<EnteredState[]> {
    return this.repository.between(clusterId, from, to, limit);
  }

  /** Opens the log of the node that a state belongs to, with the output of its daemons, bootstrap script and agent. */
  async nodeLog(
    scope: TenantScope,
    query: NodeLogQuery,
    { stream, range }: { stream: OutputStream; range: (size: number) => ByteRange | null },
  ): Promise<LogSlice> {
    const cluster = await this.clusters.identify(scope, query.selector());
    const node = await this.nodeOfState(cluster, query.node_status_id);
    const { last_n_lines: lastLines, file_size_bytes: firstBytes, offset } = query;
    return this.logs.open({ kind: 'node', id: node.node_id, stream }, { lastLines, firstBytes, offset, range });
  }

  /**
   * Returns the errors of the workflow behind a node state. If an error has a message about this node, that message is
   * returned.
   */
  async errors(
    scope: TenantScope,
    clusterId: number,
    nodeStateId: number,
    page: PageRequest,
  ): Promise<Page<ClusterErrorRead>> {
    const cluster = await this.clusters.identify(scope, { id: clusterId });
    const { workflow_job_instance_id: instanceId, node_id } = await this.nodeOfState(cluster, nodeStateId);
    if (instanceId === null) return pageOf<ClusterErrorRead>([], 0, page);
    const errors = await this.transactions.read((tx) => workflowErrors(tx, [instanceId], page, node_id));
    return { ...errors, data: errors.data.map(({ error }) => ({ error })) };
  }

  private async nodeOfState(cluster: Pick<Cluster, 'cluster_id' | 'name'>, nodeStateId: number) {
    const node = await this.repository.nodeOfState(cluster.cluster_id, nodeStateId);
    if (node) return node;
    throw notFound('NODE_STATE.NOT_FOUND', `The cluster "${cluster.name}" has no node state with id ${nodeStateId}.`);
  }
}

function stateFacts(state: StateFacts) {
  return {
    created_by: state.username,
    reason: state.reason,
    step: state.step,
    start_time: state.start_time,
    end_time: openEnded(state.end_time) ?? 'infinity',
  };
}
