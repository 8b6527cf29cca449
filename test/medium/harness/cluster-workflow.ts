import { DataSource } from 'typeorm';
import { ClusterLifecycle } from '../../../src/modules/execution/clusters/lifecycle/cluster-lifecycle';
import type { ClusterOperation } from '../../../src/modules/execution/clusters/model/cluster-state';
import type {
  StepOutcome,
  Workflow,
  WorkflowContext,
} from '../../../src/platform/background/workflows/workflow-definition';
import { inTransaction } from '../../../src/platform/kernel/persistence/sql';

/** The cluster of a workflow. */
interface Subject {
  clusterId: number;
  tenantId: string;
}

/** The context that the steps of a workflow of the cluster get. */
export function workflowContext(instanceId: number, { clusterId, tenantId }: Subject): WorkflowContext<'cluster'> {
  return {
    instanceId,
    subject: { kind: 'cluster', tenantId, id: clusterId },
    actorUserId: null,
    requestedAt: new Date(),
    correlationId: 'test',
    signal: new AbortController().signal,
  };
}

/** Begins an operation whose steps do not run by themselves, and returns the context that they get. */
export async function beginOperation(
  app: { get<T>(token: { prototype: T }): T },
  subject: Subject,
  operation: ClusterOperation,
): Promise<WorkflowContext<'cluster'>> {
  const lifecycle = app.get(ClusterLifecycle);
  const instanceId = await inTransaction(app.get(DataSource), async (tx) => {
    const cluster = await lifecycle.lockOrThrow(tx, subject.clusterId);
    return (await lifecycle.beginOperation(tx, cluster, operation, null, `${operation} requested`))
      .workflow_job_instance_id;
  });
  return workflowContext(instanceId, subject);
}

/** Runs one step once. */
export function runStep(
  workflow: Workflow<'cluster'>,
  name: string,
  context: WorkflowContext<'cluster'>,
): Promise<StepOutcome> {
  const found = workflow.steps.find((one) => one.name === name);
  if (!found) throw new Error(`There is no step ${name}`);
  return found.run(context);
}
