import { Injectable, SetMetadata } from '@nestjs/common';
import { DiscoveryService, Reflector } from '@nestjs/core';
import type { WorkflowPayload } from '../queues/job-catalogue';
import type { SubjectKind } from './entities/workflow-job.entity';
import { type WorkflowDefinition, definedWorkflows, type Workflow } from './workflow-definition';
import { WorkflowRunner } from './workflow-runner';

const METADATA = 'platform:workflow';

/** Marks the class that implements the workflow. The worker does not boot if a workflow has no implementation, or two. */
export function ImplementsWorkflow<K extends SubjectKind>(
  definition: WorkflowDefinition<K>,
): (target: new (...args: never[]) => Workflow<K>) => void {
  return SetMetadata(METADATA, definition);
}

/** Handles the jobs of all workflows. */
@Injectable()
export class WorkflowJobs {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly reflector: Reflector,
    private readonly runner: WorkflowRunner,
  ) {}

  /** Returns the handlers of the workflows' jobs by name. Throws if a workflow has no implementation, or two. */
  handlers(): Map<string, (payload: WorkflowPayload) => Promise<void>> {
    const found = new Map<WorkflowDefinition, Workflow>();
    for (const { metatype, instance } of this.discovery.getProviders()) {
      if (!metatype || typeof metatype !== 'function') continue;
      const definition = this.reflector.get<WorkflowDefinition | undefined>(METADATA, metatype);
      if (!definition) continue;
      if (found.has(definition)) throw new Error(`Workflow ${definition.jobName} has two implementations`);
      found.set(definition, instance as Workflow);
    }
    const missing = definedWorkflows().filter((definition) => !found.has(definition));
    if (missing.length > 0)
      throw new Error(`These workflows have no implementation: ${missing.map(({ jobName }) => jobName).join(', ')}`);
    return new Map(
      [...found].map(([definition, workflow]) => [
        definition.jobName,
        (payload) => this.runner.continue(definition, payload.workflow_job_instance_id, workflow),
      ]),
    );
  }
}
