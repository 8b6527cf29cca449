import { Field } from '../../../../../platform/kernel/dto/fields';

const WORKERS =
  'Workers on each instance of a STANDALONE cluster, 1 if absent; workers of a CLUSTER, min_instances or else 1 if absent; ' +
  'a PLATFORM cluster ignores it';

const PARALLEL_JOBS = { optional: true, min: 1, max: 1000 };
export const DEFAULT_PARALLEL_JOBS = 5;

export class EngineClusterSparkConfigInput {
  @Field.int64(PARALLEL_JOBS) max_parallel_spark_job_execution_per_instance?: number;
  @Field.int64({ optional: true, nullable: true, min: 1, max: 100, description: WORKERS })
  num_of_workers?: number | null;
}

/** The Spark configuration of a new cluster, which gets a default. */
export class NewEngineClusterSparkConfig extends EngineClusterSparkConfigInput {
  @Field.int64({ ...PARALLEL_JOBS, default: DEFAULT_PARALLEL_JOBS })
  override max_parallel_spark_job_execution_per_instance: number = DEFAULT_PARALLEL_JOBS;
}

export class EngineClusterSparkConfig {
  @Field.int64() max_parallel_spark_job_execution_per_instance: number;
  @Field.int64({ nullable: true }) num_of_workers: number | null;
  @Field.int64({ optional: true, nullable: true }) standalone_workers_number?: number | null;
}
