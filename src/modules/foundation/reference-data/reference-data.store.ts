import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { isPgError } from '../../../platform/kernel/errors/database-error';
import { LOGGER, type Logger } from '../../../platform/kernel/logging/logger';
import { Pump } from '../../../platform/kernel/process/pump';
import { fromWire } from '../../../platform/kernel/product/product-name';
import { PgListener } from '../../../platform/kernel/notifications/pg-listener';
import {
  type DatedRows,
  type LookupResponses,
  type LookupMaps,
  type LookupSnapshot,
  renderLookups,
} from './lookup-snapshot';
import { LOOKUP_NAMES } from './lookup-tables';
import { type LookupRecords, ReferenceData } from './reference-data';
import { ReferenceDataRepository } from './reference-data.repository';

const POLL_INTERVAL_MS = 30_000;
const UNDEFINED_TABLE = '42P01';

/** Caches the lookup tables in memory and reloads them when they change. */
@Injectable()
export class ReferenceDataStore extends ReferenceData implements OnModuleInit, OnApplicationShutdown {
  readonly current: LookupRecords;
  private snapshot: LookupSnapshot = renderLookups(emptyRows());
  private readonly reloads = new Pump(() => this.load(), {
    intervalMs: POLL_INTERVAL_MS,
    failed: (error) =>
      this.logger.warn(
        { err: error },
        'The lookup tables could not be reloaded; the API keeps serving the previous data',
      ),
  });
  private stopListening: () => void = () => undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly repository: ReferenceDataRepository,
    private readonly listener: PgListener,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super();
    this.current = recordsOf(() => this.snapshot.current);
  }

  async onModuleInit(): Promise<void> {
    this.stopListening = this.listener.on('reference_data', () => this.reloads.wake());
    this.reloads.wake(POLL_INTERVAL_MS);
    await this.load();
  }

  onApplicationShutdown(): void {
    this.stopListening();
    void this.reloads.stop();
  }

  get responses(): LookupResponses {
    return this.snapshot.responses;
  }

  cloudProvider(id: number) {
    return this.snapshot.all.providers.get(id);
  }

  diskType(id: number) {
    return this.snapshot.all.diskTypes.get(id);
  }

  availabilityZone(id: number) {
    return this.snapshot.all.zones.get(id);
  }

  zonesOf(cloudProviderId: number, region: string) {
    const zones = [...this.snapshot.current.zones.values()].filter(
      (zone) => zone.cloud_provider_id === cloudProviderId && zone.region === region && zone.name !== region,
    );
    return zones.map(({ name }) => name).sort();
  }

  architecture(id: number) {
    return this.snapshot.all.architectures.get(id);
  }

  machineType(id: number) {
    return this.snapshot.all.machineTypes.get(id);
  }

  machineTypes() {
    return this.snapshot.all.machineTypes.values();
  }

  linuxDistro(id: number) {
    return this.snapshot.all.distros.get(id);
  }

  credentialType(id: number) {
    return this.snapshot.all.credentialTypes.get(id);
  }

  sparkInfraVersion(id: number) {
    return this.snapshot.all.infraVersions.get(id);
  }

  sparkInfraVersions() {
    return this.snapshot.all.infraVersions.values();
  }

  storageType(id: number) {
    return this.snapshot.all.storageTypes.get(id);
  }

  encryptionType(id: number) {
    return this.snapshot.all.encryptionTypes.get(id);
  }

  secretType(id: number) {
    return this.snapshot.all.secretTypes.get(id);
  }

  metastoreCatalogType(id: number) {
    return this.snapshot.all.catalogTypes.get(id);
  }

  runtimeSupport(jobType: string, language: string) {
    const row = this.responses.sparkJobTypeLangs.find(
      ({ spark_job_type: { name }, lang_name }) => fromWire(name) === jobType && lang_name === language,
    );
    return { arguments: row?.support_runtime_args ?? true, conf: row?.support_runtime_conf ?? true };
  }

  acceleratorSupport(clusterType: string) {
    const row = this.responses.clusterTypes.find(({ name }) => fromWire(name) === clusterType);
    return { turbo: row?.has_turbo_support ?? false, cuda: row?.has_cuda_support ?? false };
  }

  labelPattern(cloudProviderId: number) {
    return this.snapshot.labelPatterns.get(cloudProviderId);
  }

  /** Tolerates missing tables: they do not exist before the first migration, and seeding then sends a notification. */
  private async load(): Promise<void> {
    try {
      this.snapshot = renderLookups(await this.repository.all(this.dataSource.manager));
    } catch (error) {
      if (!isPgError(error, UNDEFINED_TABLE)) throw error;
    }
  }
}

function recordsOf(maps: () => LookupMaps): LookupRecords {
  return {
    cloudProvider: (id) => maps().providers.get(id),
    diskType: (id) => maps().diskTypes.get(id),
    availabilityZone: (id) => maps().zones.get(id),
    architecture: (id) => maps().architectures.get(id),
    machineType: (id) => maps().machineTypes.get(id),
    linuxDistro: (id) => maps().distros.get(id),
    credentialType: (id) => maps().credentialTypes.get(id),
    sparkInfraVersion: (id) => maps().infraVersions.get(id),
    storageType: (id) => maps().storageTypes.get(id),
    encryptionType: (id) => maps().encryptionTypes.get(id),
    secretType: (id) => maps().secretTypes.get(id),
    metastoreCatalogType: (id) => maps().catalogTypes.get(id),
  };
}

function emptyRows(): DatedRows {
  return Object.fromEntries(LOOKUP_NAMES.map((name) => [name, []])) as unknown as DatedRows;
}
