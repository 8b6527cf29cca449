import { Controller, Query } from '@nestjs/common';
import { CurrentPrincipal, tenantNotSelected } from '../../../../platform/http/auth/request-principal';
import { Operation, Responses } from '../../../../platform/http/operation';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import { ReferenceDataStore, SparkInfraVersionLookup } from '../../../foundation/reference-data';
import { SparkInfraVersionsQuery } from './dto/spark-infra-versions.dto';
import { EnvironmentSparksService } from './environment-sparks.service';

@Controller()
export class SparkInfraVersionsController {
  constructor(
    private readonly referenceData: ReferenceDataStore,
    private readonly sparks: EnvironmentSparksService,
  ) {}

  @Operation({
    method: 'GET',
    path: '/lookup_spark_infra_version',
    id: 'listSparkInfraVersions',
    summary: 'List the Spark versions with the versions and features they include',
    description:
      'Returns the current Spark versions, each with the versions of Hive, Hadoop, Scala and Python that come with it and the features it has. With cloud_env_id, only those with which clusters of that environment can start, if they are known; that needs a selected tenant.',
    tag: 'Lookups',
    access: Allow.signedIn,
    response: Responses.list(SparkInfraVersionLookup),
  })
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() { cloud_env_id: cloudEnvId }: SparkInfraVersionsQuery,
  ): Promise<SparkInfraVersionLookup[]> {
    const all = this.referenceData.responses.sparkInfraVersions;
    if (cloudEnvId === undefined) return all;
    const { tenantId, userId, username } = principal;
    if (tenantId === null) throw tenantNotSelected();
    const versions = await this.sparks.versionsOf({ tenantId, userId, username }, cloudEnvId);
    return versions === null ? all : all.filter(({ spark_version: version }) => versions.includes(version));
  }
}
