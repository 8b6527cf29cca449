import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { ComputeDriver, DriverContext, NodeDisk, NodeSpec } from '../../../../libs/compute-drivers/compute-driver';
import { Config } from '../../../config/config';
import { PermanentError, type WorkflowContext } from '../../../platform/workflows/workflow-definition';
import { CredentialsConfsService } from '../../credentials-confs/credentials-confs.service';
import { ReferenceData } from '../../reference-data/reference-data.contract';
import { type ClusterDisks, clusterDisks, ownDisks } from '../cluster-disks';
import { ClusterRowsRepository } from '../cluster-rows.repository';
import type { ClusterType } from '../cluster-state';
import { Drivers } from './drivers';
import type { ClusterNode } from '../entities/cluster-node.entity';
import { withDeadline } from '../../../platform/process/deadline';

const CALL_DEADLINE_MS = 120_000;

/** What the workflows need to know of a cluster, its environment and its machine type. */
export interface ClusterFacts {
  clusterId: number;
  tenantId: string;
  clusterType: ClusterType;
  minInstances: number | null;
  numOfWorkers: number | null;
  keepScratchDisk: boolean;
  isSpot: boolean;
  enablePublicIp: boolean;
  labels: Record<string, string>;
  machineType: string;
  machineTypeId: number;
  /** Platform compute units per hour. */
  machinePriceYcu: number;
  cores: number;
  memoryMb: number;
  disks: ClusterDisks | null;
  sparkVersion: string;
  endpoint: string | null;
  cloudProviderId: number;
  credentialsConfId: number;
}

/** Reads a cluster for its workflow and makes the calls to its driver. */
@Injectable()
export class ClusterFactsReader {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clusters: ClusterRowsRepository,
    private readonly referenceData: ReferenceData,
    private readonly credentials: CredentialsConfsService,
    private readonly drivers: Drivers,
    private readonly config: Config,
  ) {}

  async read(clusterId: number): Promise<ClusterFacts> {
    const row = await this.clusters.facts(clusterId);
    if (!row) throw new PermanentError(`Cluster ${clusterId} does not exist.`);
    const machineType = this.referenceData.machineType(row.cluster_conf.machine_type_id);
    const spark = this.referenceData.sparkInfraVersion(row.spark_infra_version_id);
    if (!machineType || !spark)
      throw new PermanentError('The machine type or Spark version of the cluster is no longer offered.');
    return {
      clusterId: row.cluster_id,
      tenantId: row.tenant_id,
      clusterType: row.cluster_type,
      minInstances: row.min_instances,
      numOfWorkers: row.num_of_workers,
      keepScratchDisk: row.keep_scratch_disk ?? false,
      isSpot: row.is_spot_instance,
      enablePublicIp: row.enable_public_ip,
      labels: row.labels,
      machineType: machineType.info.name,
      machineTypeId: machineType.info.machine_type_id,
      machinePriceYcu: machineType.info.machine_price_ycu,
      cores: machineType.info.vCPUs,
      memoryMb: Math.floor(machineType.memoryGib * 1024),
      disks: clusterDisks(ownDisks(row), row.cluster_conf.volume_conf, this.referenceData),
      sparkVersion: spark.spark_version,
      endpoint: row.endpoint,
      cloudProviderId: row.cloud_provider_id,
      credentialsConfId: row.credentials_conf_id,
    };
  }

  /** Calls the cluster's driver with decrypted credentials and a deadline. */
  async withDriver<T>(
    facts: ClusterFacts,
    caller: Pick<WorkflowContext, 'correlationId' | 'signal'>,
    call: (driver: ComputeDriver, context: DriverContext) => Promise<T>,
  ): Promise<T> {
    const driver = this.drivers.forEnvironment(facts.cloudProviderId, facts.endpoint);
    const { values } = await this.credentials.reveal(this.dataSource.manager, facts.tenantId, facts.credentialsConfId);
    const signal = withDeadline(CALL_DEADLINE_MS, caller.signal);
    return call(driver, { endpoint: facts.endpoint, credentials: values, correlationId: caller.correlationId, signal });
  }

  nodeSpec(facts: ClusterFacts, node: ClusterNode): NodeSpec {
    return {
      labels: { clusterId: String(facts.clusterId), tenantId: facts.tenantId, nodeToken: node.token },
      nodeNumber: node.node_number,
      machineType: facts.machineType,
      cores: node.cores,
      memoryMb: node.memory_mb,
      disks: facts.disks ? nodeDisks(facts.disks) : [],
      sparkVersion: facts.sparkVersion,
      userLabels: facts.labels,
      isSpot: facts.isSpot,
      enablePublicIp: facts.enablePublicIp,
      agentApiUrl: this.config.agent.apiUrl,
      bootstrapToken: node.bootstrap_token ?? '',
    };
  }
}

function nodeDisks({ number, size, type, iops, throughputMb, volume }: ClusterDisks): NodeDisk[] {
  const disk = { gib: size, type: type.name, iops, throughputMb, encrypted: volume?.encrypted ?? false };
  return Array.from({ length: number }, () => disk);
}
