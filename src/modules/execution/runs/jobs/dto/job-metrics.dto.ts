import {
  type ApplicationMetrics,
  type ExecutorMetrics,
  type StageMetrics,
  STAGE_STATUSES,
  type StageStatus,
} from '../../../../../../libs/spark/event-log';
import { Field } from '../../../../../platform/kernel/dto/fields';

const tasks = 'Task attempts that have ended';
const spilled = 'Written to disk because memory was short';

export class JobStageMetrics implements StageMetrics {
  @Field.int64() stage_id: number;
  @Field.int64() attempt: number;
  @Field.text() name: string;
  @Field.oneOf(STAGE_STATUSES, {
    description:
      'PENDING: its Spark job has started, the stage has not. ABORTED: the stage had not ended when the job ended',
  })
  status: StageStatus;
  @Field.int64({ description: 'Number of tasks of the stage' }) planned_tasks: number;
  @Field.int64({ description: tasks }) tasks: number;
  @Field.int64() failed_tasks: number;
  @Field.int64({ description: 'Until now, or until the end of the stage' }) duration_ms: number;
  @Field.int64() input_bytes: number;
  @Field.int64() output_bytes: number;
  @Field.int64() shuffle_read_bytes: number;
  @Field.int64() shuffle_write_bytes: number;
  @Field.int64({ description: spilled }) spilled_bytes: number;
}

export class JobExecutorMetrics implements ExecutorMetrics {
  @Field.text({ description: 'The executor `driver` has no cores unless the driver runs the tasks itself' })
  executor_id: string;
  @Field.text() host: string;
  @Field.int64() cores: number;
  @Field.int64({ description: 'Peak memory of the JVM, on-heap and off-heap, sampled every second' })
  peak_memory_bytes: number;
  @Field.int64({ description: 'Garbage collection time, summed over its tasks' }) gc_ms: number;
  @Field.int64({ description: tasks }) tasks: number;
}

export class JobMetricsTotals {
  @Field.int64({ description: tasks }) tasks: number;
  @Field.int64() failed_tasks: number;
  @Field.int64({ description: 'From the start of the application to its last event' }) duration_ms: number;
  @Field.int64() input_bytes: number;
  @Field.int64() output_bytes: number;
  @Field.int64() shuffle_read_bytes: number;
  @Field.int64() shuffle_write_bytes: number;
  @Field.int64({ description: spilled }) spilled_bytes: number;
  @Field.int64({ description: 'Sum over all tasks' }) gc_ms: number;
}

export class JobMetrics implements ApplicationMetrics {
  @Field.id() job_id: number;
  @Field.text({ nullable: true, description: "Spark's application id" }) job_application_id: string | null;
  @Field.objects(() => JobStageMetrics, { description: 'The last 1,000' }) stages: JobStageMetrics[];
  @Field.objects(() => JobExecutorMetrics, { description: 'The first 1,000' }) executors: JobExecutorMetrics[];
  @Field.object(() => JobMetricsTotals, { description: 'Totals of all stages and executors' }) totals: JobMetricsTotals;
}
