import { Injectable } from '@nestjs/common';
import { notFound } from '../../../platform/kernel/errors/domain-error';
import { type Page, type PageRequest, pageOf } from '../../../platform/kernel/dto/page';
import type {
  CloudProviderFilter,
  GitProviderFilter,
  JobTypeFilter,
  SecretSupportsFilter,
} from './dto/lookup-queries.dto';
import type {
  AvailabilityZoneLookup,
  CloudLabelPatternLookup,
  CloudProviderLookup,
  CredentialTypeLookup,
  GitCredentialPatternLookup,
  MachineTypeLookup,
  SecretTypeLookup,
  SparkJobTypeLangLookup,
} from './dto/lookup-responses.dto';
import type { LookupResponses } from './lookup-snapshot';
import { CLOUD_PROVIDER_ID } from './reference-data';
import { ReferenceDataStore } from './reference-data.store';

/** Serves the lookup operations from memory. */
@Injectable()
export class LookupsService {
  constructor(private readonly store: ReferenceDataStore) {}

  all<K extends keyof LookupResponses>(lookup: K): LookupResponses[K] {
    return this.store.responses[lookup];
  }

  cloudProvider(id: number): CloudProviderLookup {
    const provider = this.store.responses.cloudProviders.find(({ cloud_provider_id }) => cloud_provider_id === id);
    if (!provider) throw notFound('CLOUD_PROVIDER.NOT_FOUND', `There is no cloud provider with id ${id}.`);
    return provider;
  }

  zones(page: PageRequest): Page<AvailabilityZoneLookup> {
    return pageFrom(this.store.responses.availabilityZones, page);
  }

  zonesOf(providerId: number, page: PageRequest): Page<AvailabilityZoneLookup> {
    return pageFrom(ofProvider(this.store.responses.availabilityZones, this.cloudProvider(providerId)), page);
  }

  zone(providerId: number, zoneId: number): AvailabilityZoneLookup {
    const { name } = this.cloudProvider(providerId);
    const zone = this.store.responses.availabilityZones.find(
      ({ availability_zone_id, cloud_provider }) =>
        availability_zone_id === zoneId && cloud_provider.cloud_provider_id === providerId,
    );
    if (!zone) throw notFound('AVAILABILITY_ZONE.NOT_FOUND', `${name} has no availability zone with id ${zoneId}.`);
    return zone;
  }

  machineTypes(page: PageRequest): Page<MachineTypeLookup> {
    return pageFrom(this.store.responses.machineTypes, page);
  }

  machineTypesOf(providerId: number, page: PageRequest): Page<MachineTypeLookup> {
    return pageFrom(ofProvider(this.store.responses.machineTypes, this.cloudProvider(providerId)), page);
  }

  machineType(providerId: number, machineTypeId: number): MachineTypeLookup {
    const { name } = this.cloudProvider(providerId);
    const machine = this.store.responses.machineTypes.find(
      ({ machine_type_id, cloud_provider }) =>
        machine_type_id === machineTypeId && cloud_provider.cloud_provider_id === providerId,
    );
    if (!machine) throw notFound('MACHINE_TYPE.NOT_FOUND', `${name} has no machine type with id ${machineTypeId}.`);
    return machine;
  }

  labelPatterns(filter: CloudProviderFilter): CloudLabelPatternLookup[] {
    return ofFilter(this.store.responses.labelPatterns, filter);
  }

  credentialTypes(filter: CloudProviderFilter): CredentialTypeLookup[] {
    return ofFilter(this.store.responses.credentialTypes, filter);
  }

  jobTypeLangs({ job_type: names }: JobTypeFilter): SparkJobTypeLangLookup[] {
    const requested = names?.map((name) => name.toLowerCase());
    return this.store.responses.sparkJobTypeLangs.filter(
      ({ spark_job_type }) => requested === undefined || requested.includes(spark_job_type.display_name.toLowerCase()),
    );
  }

  secretTypes({ secret_supports: supports }: SecretSupportsFilter): SecretTypeLookup[] {
    const types = this.store.responses.secretTypes;
    switch (supports) {
      case undefined:
        return types;
      case 'unity':
        return types.filter((type) => type.supports_unity);
      case 'hive':
        return types.filter((type) => type.supports_hive);
      case 'storage':
        return types.filter((type) => type.supports_storage_type !== null);
    }
  }

  gitCredentialPatterns({ git_provider: name }: GitProviderFilter): GitCredentialPatternLookup[] {
    return this.store.responses.gitCredentialPatterns.filter(
      ({ git_provider }) => name === undefined || git_provider.name === name,
    );
  }
}

interface OfProvider {
  cloud_provider: { cloud_provider_id: number };
}

function ofProvider<T extends OfProvider>(records: readonly T[], provider: { cloud_provider_id: number }): T[] {
  return records.filter(({ cloud_provider }) => cloud_provider.cloud_provider_id === provider.cloud_provider_id);
}

function ofFilter<T extends OfProvider>(records: T[], { cloud_provider: name }: CloudProviderFilter): T[] {
  return name === undefined ? records : ofProvider(records, { cloud_provider_id: CLOUD_PROVIDER_ID[name] });
}

function pageFrom<T>(records: readonly T[], page: PageRequest): Page<T> {
  const start = (page.pageNumber - 1) * page.limit;
  return pageOf(page.all ? [...records] : records.slice(start, start + page.limit), records.length, page);
}
