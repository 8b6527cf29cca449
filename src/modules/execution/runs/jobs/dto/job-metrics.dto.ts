import { nameEnum } from '../../../../../platform/kernel/dto/named-enums';
import {
  type ApplicationMetrics,
  type ExecutorMetrics,
  type StageMetrics,
  STAGE_STATUSES,
  type StageStatus,
} from '../../../../../../libs/spark/event-log';
import { Field } from '../../../../../platform/kernel/dto/fields';
import { About } from '../../../../../platform/kernel/dto/schemas';

nameEnum('StageStatus', STAGE_STATUSES, 'State of a stage.', {
  PENDING: 'its Spark job has started, the stage has not',
  ABORTED: 'it had not ended when the job ended',
});

const tasks = 'Task attempts that have ended';
const spilled = 'Bytes that were spilled to disk because memory was short';

@About('One stage of the Spark application of a job.')
export class JobStageMetrics implements StageMetrics {
  @Field.int64({ description: 'Id of the stage in the Spark application' }) stage_id: number;
  @Field.int64({ description: 'Number of the attempt of the stage, starting at 0' }) attempt: number;
  @Field.text({ description: "Spark's name of the stage: the action and the line of code" }) name: string;
  @Field.oneOf(STAGE_STATUSES, {
    description:
      'PENDING: its Spark job has started, the stage has not. ABORTED: the stage had not ended when the job ended',
  })
  status: StageStatus;
  @Field.int64({ description: 'Number of tasks of the stage' }) planned_tasks: number;
  @Field.int64({ description: tasks }) tasks: number;
  @Field.int64({ description: 'Task attempts that failed' }) failed_tasks: number;
  @Field.timestamp({ nullable: true, description: 'When the stage started; null until then' }) start_date: Date | null;
  @Field.int64({ description: 'Milliseconds from the start of the stage until now, or until its end' })
  duration_ms: number;
  @Field.int64({ description: 'Bytes that its tasks read from storage' }) input_bytes: number;
  @Field.int64({ description: 'Bytes that its tasks wrote to storage' }) output_bytes: number;
  @Field.int64({ description: 'Bytes that its tasks read from shuffles of earlier stages' }) shuffle_read_bytes: number;
  @Field.int64({ description: 'Bytes that its tasks wrote for shuffles of later stages' }) shuffle_write_bytes: number;
  @Field.int64({ description: spilled }) spilled_bytes: number;
}

@About('One executor of the Spark application of a job.')
export class JobExecutorMetrics implements ExecutorMetrics {
  @Field.text({ description: 'The executor `driver` has no cores unless the driver runs the tasks itself' })
  executor_id: string;
  @Field.text({ description: 'Host on which the executor runs' }) host: string;
  @Field.int64({ description: 'Number of tasks that the executor can run at a time' }) cores: number;
  @Field.int64({ description: 'Peak memory of the JVM, on-heap and off-heap, sampled every second' })
  peak_memory_bytes: number;
  @Field.int64({ description: 'Milliseconds of garbage collection, summed over its tasks' }) gc_ms: number;
  @Field.int64({ description: tasks }) tasks: number;
}

@About('Totals of all stages and executors.')
export class JobMetricsTotals {
  @Field.int64({ description: tasks }) tasks: number;
  @Field.int64({ description: 'Task attempts that failed' }) failed_tasks: number;
  @Field.int64({ description: 'Milliseconds from the start of the application to its last event' }) duration_ms: number;
  @Field.int64({ description: 'Bytes that the tasks read from storage' }) input_bytes: number;
  @Field.int64({ description: 'Bytes that the tasks wrote to storage' }) output_bytes: number;
  @Field.int64({ description: 'Bytes that the tasks read from shuffles' }) shuffle_read_bytes: number;
  @Field.int64({ description: 'Bytes that the tasks wrote for shuffles' }) shuffle_write_bytes: number;
  @Field.int64({ description: spilled }) spilled_bytes: number;
  @Field.int64({ description: 'Milliseconds of garbage collection, summed over all tasks' }) gc_ms: number;
}

@About('What the Spark application of a job did, read from its event log.')
export class JobMetrics implements ApplicationMetrics {
  @Field.id() job_id: number;
  @Field.text({ nullable: true, description: "Spark's application id; null until the application has started" })
  job_application_id: string | null;
  @Field.objects(() => JobStageMetrics, { description: 'The stages, at most the last 1,000' })
  stages: JobStageMetrics[];
  @Field.objects(() => JobExecutorMetrics, { description: 'The executors, at most the first 1,000' })
  executors: JobExecutorMetrics[];
  @Field.object(() => JobMetricsTotals, { description: 'Totals of all stages and executors' }) totals: JobMetricsTotals;
}
