import { Param } from '../../../../../platform/kernel/dto/fields';

export class SparkInfraVersionsQuery {
  @Param.id({
    description:
      'Only the versions with which clusters of this cloud environment can start, if they are known. Needs a selected tenant',
  })
  cloud_env_id?: number;
}
