import { Controller, Req, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { type AuthenticatedRequest, InWorkspace } from '../../../../platform/http/auth/request-principal';
import { RequestBodies } from '../../../../platform/http/bodies/request-bodies';
import { Responses, Operation } from '../../../../platform/http/operation';
import { IdParam } from '../../../../platform/http/parameters';
import { FunctionsService, MAX_BODY_BYTES } from './functions.service';

/** Functions that jobs serve. */
@Controller()
export class FunctionsController {
  constructor(
    private readonly functions: FunctionsService,
    private readonly bodies: RequestBodies,
  ) {}

  @Operation({
    method: 'POST',
    path: '/workspace/{workspace_id}/spark/job/{job_id}/invoke',
    id: 'invokeFunction',
    summary: 'Call the function that a job serves',
    description:
      'Passes the body, which is any JSON value, to the function that a RUNNING job of type PLATFORM_FUNCTIONS serves, and returns the JSON that the function returns. The header `x-invocation-id` identifies the call in the log of the job. Status 409 means that the job is not running, 422 that the function raised an error, 429 that too many calls are running, 504 that the call took too long. The platform never repeats a call.',
    isExtension: true,
    tag: 'Jobs',
    access: Allow.workspace('RUN'),
    response: Responses.anyJson,
    errors: [409, 422, 429, 504],
    // Passed on unchanged: its keys belong to the function, and its numbers may have more digits than JavaScript keeps.
    binaryBody: true,
    isLongRunning: true,
    maxBodyBytes: MAX_BODY_BYTES,
    jsonExample: { rows: 3 },
  })
  async invoke(
    @InWorkspace() scope: WorkspaceScope,
    @IdParam('job_id') jobId: number,
    @Req() request: AuthenticatedRequest,
    @Res() response: Response,
  ): Promise<void> {
    const body = await this.bodies.bytes(request);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const { id, body: answer } = await this.functions.invoke(scope, jobId, { body, signal: gone.signal });
    response.status(200).setHeader('x-invocation-id', id);
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.end(answer);
  }

  @Operation({
    method: 'GET',
    path: '/workspace/{workspace_id}/spark/job/{job_id}/openapi',
    id: 'describeFunction',
    summary: 'Describe the function that a job serves',
    description:
      'Returns an OpenAPI document of `invokeFunction` for this job, with the example request of its configuration.',
    isExtension: true,
    tag: 'Jobs',
    access: Allow.workspace('VIEW'),
    response: Responses.anyJson,
  })
  async describe(
    @InWorkspace() scope: WorkspaceScope,
    @IdParam('job_id') jobId: number,
    @Res() response: Response,
  ): Promise<void> {
    const document = await this.functions.describe(scope, jobId);
    // Sent unchanged: the keys of the example belong to the function.
    response.status(200).setHeader('Content-Type', 'application/json; charset=utf-8');
    response.end(document);
  }
}
