import { Injectable } from '@nestjs/common';
import { Config } from '../../../../config/config';
import { unitPriceAt } from '../../../../config/billing.config';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { fieldShapes } from '../../../../platform/kernel/dto/field-shapes';
import { MAX_PAGE } from '../../../../platform/kernel/dto/page';
import { fromDatabaseError } from '../../../../platform/kernel/errors/database-error';
import { DomainError, type ErrorKind } from '../../../../platform/kernel/errors/domain-error';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { assertChanges } from '../../../../platform/http/changes';
import { validated } from '../../../../platform/http/validation';
import {
  type CloudEnvData,
  CloudEnvsService,
  type ClusterConfData,
  ClusterConfsService,
  EnvironmentSparksService,
  machineTypeOf,
} from '../../../infrastructure/environments';
import { MetastoreCatalogsService } from '../../../infrastructure/metastores';
import { ObjectStorageManagersService } from '../../../infrastructure/storage';
import { type MachineTypeRecord, ReferenceData } from '../../../foundation/reference-data';
import { EDITABLE_STATUSES } from '../model/cluster-state';
import { clusterCost } from './cluster-cost';
import { ALWAYS_EDITABLE, ClusterDefinitionsService } from './cluster-definitions.service';
import { ClusterDefinitionsRepository, type ClusterRow } from './cluster-definitions.repository';
import { ClusterMountsService } from './cluster-mounts.service';
import { changedDraft, type ClusterParts, newDraft } from './cluster-draft';
import { type ClusterDraft, draftFaults, placeFaults } from './cluster-rules';
import type { CheckCluster, ClusterCheck, ClusterFault, ClusterMisfit } from './dto/cluster-check.dto';
import { CreateCluster, UpdateCluster } from './dto/cluster-input.dto';

/** The parts of a request, as far as they are known. */
interface Candidate {
  /** The cluster that would be changed; null for a new one. */
  row: ClusterRow | null;
  cloudEnv: CloudEnvData | null;
  clusterConf: ClusterConfData | null;
  draft: ClusterDraft | null;
}

const UNEXPLAINED: readonly ErrorKind[] = ['not-found', 'overloaded', 'unavailable'];

/** Carries the result of a check out of its transaction, which is rolled back. */
class Checked extends Error {
  constructor(readonly result: ClusterCheck) {
    super('The check of a cluster is done');
  }
}

/** Checks clusters that somebody is about to create or change. */
@Injectable()
export class ClusterChecksService {
  constructor(
    private readonly transactions: Transactions,
    private readonly definitions: ClusterDefinitionsService,
    private readonly repository: ClusterDefinitionsRepository,
    private readonly cloudEnvs: CloudEnvsService,
    private readonly clusterConfs: ClusterConfsService,
    private readonly metastoreCatalogs: MetastoreCatalogsService,
    private readonly objectStorageManagers: ObjectStorageManagersService,
    private readonly mounts: ClusterMountsService,
    private readonly sparks: EnvironmentSparksService,
    private readonly referenceData: ReferenceData,
    private readonly config: Config,
  ) {}

  /** Does what create or update do, in a transaction that is never committed, so the answer is theirs. */
  async check(scope: TenantScope, body: CheckCluster): Promise<ClusterCheck> {
    assertChanges(body);
    // Another connection reads the list, so it is not read while this request holds one.
    const machines = await this.machinesOf(scope);
    try {
      return await this.transactions.run(async (tx) => {
        throw new Checked(await this.checkWithin(tx, scope, body, machines));
      });
    } catch (error) {
      if (error instanceof Checked) return error.result;
      throw error;
    }
  }

  private async checkWithin(
    tx: Tx,
    scope: TenantScope,
    body: CheckCluster,
    machines: ReadonlyMap<number, MachineTypeRecord>,
  ): Promise<ClusterCheck> {
    const { cluster_id: id, cluster_type: _type, ...changes } = body;
    const faults: DomainError[] = [];
    const candidate = await this.candidateOf(tx, scope, body, faults);
    const { row, draft } = candidate;
    if (draft) faults.push(...draftFaults(draft, this.referenceData, row ?? undefined));
    const misfits = await this.misfitsOf(tx, candidate, machines);
    const isFixed = row !== null && !EDITABLE_STATUSES.includes(row.status);
    const fixed = isFixed ? [...fieldShapes(UpdateCluster).keys()].filter((key) => !ALWAYS_EDITABLE.includes(key)) : [];
    const cost = costOf(candidate, this.referenceData, this.config);
    const hasChanges = Object.values(changes).some((value) => value !== undefined);
    // A statement that fails ends the transaction, so the attempt is the last.
    if (faults.length === 0 && (row === null || hasChanges)) {
      const refusal = await refusalOf(async () => {
        if (id === undefined) await this.definitions.createWithin(tx, scope, await complete(body));
        else await this.definitions.updateWithin(tx, scope, { id }, { ...changes });
      });
      if (refusal) faults.push(refusal);
    }
    return {
      is_accepted: faults.length === 0,
      faults: faults.flatMap(faultsOf),
      fixed_fields: fixed,
      fixed_reason: row !== null && isFixed ? fixedReason(row) : null,
      misfits,
      cost,
    };
  }

  /** Reads the parts that the request names, and notes what is missing. Throws a 404 for a part that does not exist. */
  private async candidateOf(tx: Tx, scope: TenantScope, body: CheckCluster, faults: DomainError[]): Promise<Candidate> {
    const row = body.cluster_id === undefined ? null : await this.repository.get(scope, { id: body.cluster_id }, tx);
    if (row === null) {
      const incomplete = await refusalOf(() => complete(body));
      if (incomplete) faults.push(incomplete);
    }
    const part = <T>(id: number | null | undefined, get: (id: number) => Promise<T>): Promise<T> | null =>
      id === undefined || id === null ? null : get(id);
    const cloudEnv = await part(body.cloud_env_id ?? row?.cloud_env_id, (id) =>
      this.cloudEnvs.getRow(scope, { id }, tx),
    );
    const clusterConf = await part(body.cluster_conf_id ?? row?.cluster_conf_id, (id) =>
      this.clusterConfs.getRow(scope, { id }, tx),
    );
    const catalogId = body.metastore_catalog_id === undefined ? row?.metastore_catalog_id : body.metastore_catalog_id;
    const metastoreCatalog = await part(catalogId, (id) => this.metastoreCatalogs.getRow(scope, { id }, tx));
    await part(body.object_storage_manager_id, (id) => this.objectStorageManagers.getRow(scope, { id }, tx));
    await this.mounts.hold(tx, scope, body.mount_ids ?? []);
    if (!cloudEnv || !clusterConf) return { row, cloudEnv, clusterConf, draft: null };
    const draft = this.draftOf(row, body, { cloudEnv, clusterConf, metastoreCatalog });
    return { row, cloudEnv, clusterConf, draft };
  }

  private draftOf(row: ClusterRow | null, body: CheckCluster, parts: ClusterParts): ClusterDraft | null {
    if (row) return changedDraft(row, body, parts, this.referenceData);
    if (body.cluster_type === undefined || body.spark_infra_version_id === undefined) return null;
    return newDraft(Object.assign(new CreateCluster(), sentOf(body)), parts);
  }

  private async misfitsOf(
    tx: Tx,
    { cloudEnv, draft }: Candidate,
    machines: ReadonlyMap<number, MachineTypeRecord>,
  ): Promise<ClusterMisfit[]> {
    if (!cloudEnv) return [];
    const misfits: ClusterMisfit[] = [];
    for (const [value, machine] of machines) {
      const [fault] = placeFaults(cloudEnv, machine);
      if (fault) misfits.push({ field: 'cluster_conf_id', value, reason: fault.message });
    }
    const versions = [...this.referenceData.sparkInfraVersions()].filter(
      ({ spark_infra_version_id: id }) => this.referenceData.current.sparkInfraVersion(id) !== undefined,
    );
    const names = [...new Set(versions.map(({ spark_version: name }) => name))];
    const refusals = await this.sparks.refusals(tx, cloudEnv.endpoint, names);
    for (const { spark_infra_version_id: value, spark_version: name } of versions) {
      const reason = refusals.get(name)?.message;
      if (reason !== undefined) misfits.push({ field: 'spark_infra_version_id', value, reason });
    }
    return [...misfits, ...(draft ? switchMisfits(draft, this.referenceData) : [])];
  }

  private async machinesOf(scope: TenantScope): Promise<Map<number, MachineTypeRecord>> {
    const { data } = await this.clusterConfs.list(scope, { limit: MAX_PAGE, pageNumber: 1, all: false });
    return new Map(
      data.map(({ cluster_conf_id: id, machine_type: { machine_type_id } }) => [
        id,
        machineTypeOf({ machine_type_id }, this.referenceData),
      ]),
    );
  }
}

/** Returns what cannot be enabled with the rest of the draft. */
function switchMisfits(draft: ClusterDraft, referenceData: ReferenceData): ClusterMisfit[] {
  const plain = { ...draft, isSpotInstance: false, isTurboEnabled: false, isCudaEnabled: false };
  const switches = {
    is_spot_instance: { ...plain, isSpotInstance: true },
    is_turbo_enabled: { ...plain, isTurboEnabled: true },
    is_cuda_enabled: { ...plain, isCudaEnabled: true },
  };
  return Object.entries(switches).flatMap(([field, on]) => {
    const fault = draftFaults(on, referenceData).find((one) => fieldOf(one) === field);
    return fault ? [{ field, value: null, reason: fault.message }] : [];
  });
}

function costOf(
  { draft, clusterConf }: Candidate,
  referenceData: ReferenceData,
  { billing }: Config,
): ClusterCheck['cost'] {
  if (!draft || !clusterConf) return null;
  const price = unitPriceAt(billing.unitPrices, new Date());
  return clusterCost(draft, machineTypeOf(clusterConf, referenceData).info, price);
}

function fixedReason({ status }: ClusterRow): string {
  return `The cluster is ${status}. These fields can change only in ${EDITABLE_STATUSES.join(' or ')}.`;
}

/** Returns the request to create the cluster. Throws the 400 that creating it would answer. */
async function complete(body: CheckCluster): Promise<CreateCluster> {
  return validated(CreateCluster, sentOf(body));
}

/** Returns the fields of a new cluster that were sent; null, which only a change may send, is absent. */
function sentOf({ cluster_id: _id, ...body }: CheckCluster): object {
  return Object.fromEntries(
    Object.entries(body).filter(([key, value]) => value !== undefined && !(key === 'disk_type_id' && value === null)),
  );
}

/** Returns why the work was refused. Throws what no field explains: a 404, and what only another attempt can solve. */
async function refusalOf(work: () => Promise<unknown>): Promise<DomainError | null> {
  try {
    await work();
    return null;
  } catch (error) {
    const refusal = error instanceof DomainError ? error : fromDatabaseError(error);
    if (!refusal || UNEXPLAINED.includes(refusal.kind)) throw error;
    return refusal;
  }
}

function fieldOf({ details }: DomainError): string | null {
  return Object.keys(details['fields'] ?? {})[0] ?? null;
}

/** Returns a fault for each field that the error names. */
function faultsOf(error: DomainError): ClusterFault[] {
  const { code, message, details } = error;
  const fields = Object.entries((details['fields'] ?? {}) as Record<string, string[]>);
  if (fields.length === 0) return [{ field: null, code, message }];
  return fields.map(([field, texts]) => ({ field, code, message: texts.join('; ') }));
}
