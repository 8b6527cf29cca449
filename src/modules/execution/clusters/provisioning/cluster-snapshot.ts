import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type {
  ComputeDriver,
  DriverContext,
  Market,
  NodeDisk,
  NodeMachine,
  NodeRef,
  NodeSpec,
} from '../../../../../libs/compute-drivers/compute-driver';
import type { AcceleratorKind } from '../../../../../libs/contracts/agent-protocol';
import type { Place } from '../../../../../libs/compute-drivers/place';
import { Config } from '../../../../config/config';
import { Installation } from '../../../../platform/kernel/installation/installation';
import { PermanentError, type WorkflowContext } from '../../../../platform/background/workflows/workflow-definition';
import { CredentialsConfsService } from '../../../infrastructure/environments';
import { type MachineTypeRecord, ReferenceData } from '../../../foundation/reference-data';
import { acceleratorOf } from '../model/accelerators';
import { BootstrapTokens } from '../nodes/bootstrap-tokens';
import { type ClusterDisks, clusterDisks, ownDisks } from '../definition/cluster-disks';
import { ClusterNodesRepository } from '../model/cluster-nodes.repository';
import { ClusterRowsRepository } from '../model/cluster-rows.repository';
import { type ClusterShape, shapeOf } from '../model/node-plan';
import { placeOf } from './node-place';
import { Drivers } from './drivers';
import type { ClusterNode } from '../model/entities/cluster-node.entity';
import { withDeadline } from '../../../../platform/kernel/process/deadline';

/** Deadline of the calls for all nodes of a cluster, so that a caller learns within a minute that the provider is silent. */
const CALL_DEADLINE_MS = 40_000;

/** A cluster with its environment and machine type, as its workflows need them. */
export interface ClusterSnapshot extends ClusterShape {
  installationId: string;
  clusterId: number;
  tenantId: string;
  keepScratchDisk: boolean;
  market: Market;
  enablePublicIp: boolean;
  blockProjectSshKeys: boolean;
  identity: string | null;
  /** Labels of the cluster and of its cloud environment. The cluster's win if both have a key. */
  labels: Record<string, string>;
  place: Place;
  /** Zones of the place's region, in order. */
  zones: string[];
  image: string;
  machine: NodeMachine;
  machineTypeId: number;
  /** Platform compute units per hour. */
  machinePriceYcu: number;
  disks: ClusterDisks | null;
  sparkVersion: string;
  accelerator: AcceleratorKind | null;
  endpoint: string | null;
  cloudProviderId: number;
  credentialsConfId: number;
}

/** Reads a cluster for its workflow and makes the calls to its driver. */
@Injectable()
export class ClusterSnapshots {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clusters: ClusterRowsRepository,
    private readonly referenceData: ReferenceData,
    private readonly credentials: CredentialsConfsService,
    private readonly drivers: Drivers,
    private readonly config: Config,
    private readonly installation: Installation,
    private readonly bootstrapTokens: BootstrapTokens,
    private readonly nodes: ClusterNodesRepository,
  ) {}

  async read(clusterId: number): Promise<ClusterSnapshot> {
    const row = await this.clusters.snapshot(clusterId);
    if (!row) throw new PermanentError(`Cluster ${clusterId} does not exist.`);
    const machineType = this.referenceData.machineType(row.cluster_conf.machine_type_id);
    const spark = this.referenceData.sparkInfraVersion(row.spark_infra_version_id);
    if (!machineType || !spark)
      throw new PermanentError('The machine type or Spark version of the cluster is no longer offered.');
    const { cloud_env: env } = row;
    const place = placeOf(env, this.referenceData);
    return {
      installationId: await this.installation.id(),
      clusterId: row.cluster_id,
      tenantId: row.tenant_id,
      ...shapeOf(row),
      keepScratchDisk: row.keep_scratch_disk ?? false,
      market: row.is_spot_instance ? 'spot' : 'on-demand',
      enablePublicIp: row.enable_public_ip,
      blockProjectSshKeys: row.block_project_ssh_keys,
      identity: row.cloud_identity,
      labels: { ...env.labels, ...row.labels },
      place,
      zones: place.region === null ? [] : this.referenceData.zonesOf(env.cloud_provider_id, place.region),
      image: env.boot_disk_image.boot_disk_image,
      machine: nodeMachine(machineType),
      machineTypeId: machineType.info.machine_type_id,
      machinePriceYcu: machineType.info.machine_price_ycu,
      disks: clusterDisks(ownDisks(row), row.cluster_conf.volume_conf, this.referenceData),
      sparkVersion: spark.spark_version,
      accelerator: acceleratorOf(row),
      endpoint: env.endpoint,
      cloudProviderId: env.cloud_provider_id,
      credentialsConfId: env.credentials_conf_id,
    };
  }

  /**
   * Calls the cluster's driver with decrypted credentials and a deadline. Throws an `ElsewhereError` if another worker must
   * make the call.
   */
  async withDriver<T>(
    snapshot: ClusterSnapshot,
    caller: Pick<WorkflowContext, 'correlationId' | 'signal'>,
    call: (driver: ComputeDriver, context: DriverContext) => Promise<T>,
  ): Promise<T> {
    const driver = await this.drivers.forEnvironment(snapshot.cloudProviderId, snapshot.endpoint);
    if (driver.onSite) await driver.onSite.assertHere(await this.nodes.references(snapshot.clusterId));
    const { values } = await this.credentials.reveal(
      this.dataSource.manager,
      snapshot.tenantId,
      snapshot.credentialsConfId,
    );
    const signal = withDeadline(CALL_DEADLINE_MS, caller.signal);
    return call(driver, {
      endpoint: snapshot.endpoint,
      credentials: values,
      correlationId: caller.correlationId,
      signal,
    });
  }

  /** The same for machines that are to become nodes, which have to reach the platform. */
  async withDriverToProvision<T>(
    snapshot: ClusterSnapshot,
    caller: Pick<WorkflowContext, 'correlationId' | 'signal'>,
    call: (driver: ComputeDriver, context: DriverContext) => Promise<T>,
  ): Promise<T> {
    this.drivers.assertReachable(snapshot.cloudProviderId, snapshot.endpoint);
    return this.withDriver(snapshot, caller, call);
  }

  /** Returns the specification of a planned node's machine. It is the same for every retry of an attempt. */
  nodeSpec(snapshot: ClusterSnapshot, node: ClusterNode): NodeSpec {
    const { installationId, tenantId, sparkVersion, accelerator } = snapshot;
    return {
      labels: { installationId, tenantId, clusterId: String(snapshot.clusterId), nodeToken: node.token },
      nodeNumber: node.node_number,
      attempt: node.attempt,
      place: node.place ?? snapshot.place,
      machine: { ...snapshot.machine, cores: node.cores, memoryMb: node.memory_mb },
      image: snapshot.image,
      disks: snapshot.disks ? nodeDisks(snapshot.disks) : [],
      market: marketOf(node),
      enablePublicIp: snapshot.enablePublicIp,
      blockProjectSshKeys: snapshot.blockProjectSshKeys,
      identity: snapshot.identity,
      userLabels: node.labels,
      boot: {
        sparkVersion,
        accelerator,
        agentApiUrl: this.config.agent.apiUrl,
        bootstrapToken: this.bootstrapTokens.recreate(node),
      },
    };
  }
}

export function marketOf({ is_spot }: Pick<ClusterNode, 'is_spot'>): Market {
  return is_spot ? 'spot' : 'on-demand';
}

/** Returns the reference by which drivers know the node. */
export function nodeRef(snapshot: Pick<ClusterSnapshot, 'place'>, node: ClusterNode): NodeRef {
  return {
    nodeToken: node.token,
    attempt: node.attempt,
    providerRef: node.provider_ref,
    place: node.place ?? snapshot.place,
    acceptedAt: node.accepted_at,
  };
}

function nodeMachine({ info, memoryGib }: MachineTypeRecord): NodeMachine {
  return {
    type: info.name,
    architecture: info.machine_architecture_type.machine_architecture_type,
    cores: info.vCPUs,
    memoryMb: Math.floor(memoryGib * 1024),
    gpu: info.gpu_model === null || info.gpus === 0 ? null : { model: info.gpu_model, count: info.gpus },
  };
}

function nodeDisks({ number, size, type, iops, throughputMb, volume }: ClusterDisks): NodeDisk[] {
  const disk = { gib: size, type: type.name, iops, throughputMb, encrypted: volume?.encrypted ?? false };
  return Array.from({ length: number }, () => disk);
}
