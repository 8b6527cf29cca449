import { Controller, Req, Res } from '@nestjs/common';
import { ApiBasicAuth } from '@nestjs/swagger';
import type { Response } from 'express';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { type AuthenticatedRequest, InWorkspace } from '../../../../platform/http/auth/request-principal';
import { DomainError } from '../../../../platform/kernel/errors/domain-error';
import { RequestBodies } from '../../../../platform/http/bodies/request-bodies';
import { Responses, Operation } from '../../../../platform/http/operation';
import { IdParam } from '../../../../platform/http/parameters';
import { MAX_MESSAGE_BYTES, ThriftSqlService } from './thrift-sql.service';

const THRIFT = 'application/x-thrift';

@Controller()
export class ThriftSqlController {
  constructor(
    private readonly sql: ThriftSqlService,
    private readonly bodies: RequestBodies,
  ) {}

  @Operation({
    method: 'POST',
    path: '/workspace/{workspace_id}/spark/job/{job_id}/thrift',
    id: 'thriftSql',
    summary: 'Send a HiveServer2 message to the SQL server of a job',
    description:
      'Serves the HTTP transport of HiveServer2 for JDBC and Python clients, from a RUNNING job of type THRIFT_SQL. Request and response are `application/x-thrift`, which these clients build. A client without support for bearer tokens sends the user name and a personal token as HTTP Basic.',
    isExtension: true,
    tag: 'Jobs',
    access: Allow.workspace('RUN'),
    response: Responses.binary,
    errors: [409],
    binaryBody: true,
    bodyType: THRIFT,
    protocol: 'thrift',
    maxBodyBytes: MAX_MESSAGE_BYTES,
    acceptsBasicAuth: true,
    auditsOnlyRefusals: true,
  })
  @ApiBasicAuth('basicAuth')
  async thrift(
    @InWorkspace() scope: WorkspaceScope,
    @IdParam('job_id') jobId: number,
    @Req() request: AuthenticatedRequest,
    @Res() response: Response,
  ): Promise<void> {
    if (!request.is(THRIFT)) {
      throw new DomainError('unsupported-media', 'REQUEST.UNSUPPORTED_MEDIA', `The body must be of type ${THRIFT}.`);
    }
    const message = await this.bodies.bytes(request);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const answer = await this.sql.call(scope, jobId, { message, signal: gone.signal });
    response.status(200).setHeader('Content-Type', THRIFT);
    response.end(answer);
  }
}
