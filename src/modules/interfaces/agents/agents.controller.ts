import { Body, Controller, type ExecutionContext, createParamDecorator, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  CHANNEL_CHUNK_BYTES,
  type FramesResponse,
  type LogChunkResponse,
  type LogStream,
  type OutputStream,
  type PollResponse,
  PROTOCOL_HEADER,
  type RegisterResponse,
} from '../../../../libs/contracts/agent-protocol';
import { MAX_PAYLOAD_BYTES } from '../../../../libs/contracts/channel-records';
import { LOG_STREAMS } from '../../../../libs/object-storage/log-store';
import { Allow } from '../../../platform/kernel/auth/access';
import { RequestBodies } from '../../../platform/http/bodies/request-bodies';
import { UNCHANGING } from '../../../platform/http/cache-control';
import { sendContent } from '../../../platform/http/file-response';
import type { AuthenticatedRequest } from '../../../platform/http/auth/request-principal';
import { Responses, Operation } from '../../../platform/http/operation';
import { IdParam, TextParam, WordParam } from '../../../platform/http/parameters';
import type { ClusterNode } from '../../execution/clusters';
import { AgentBundles } from './agent-bundles';
import { AgentsService } from './agents.service';
import { BootFailure, FileKey, LogOffset, Poll, Register, Report, Requests } from './dto/agent.dto';

const CurrentNode = createParamDecorator((_: unknown, context: ExecutionContext): ClusterNode => {
  const { node } = context.switchToHttp().getRequest<AuthenticatedRequest>();
  if (!node) throw new Error('The operation does not declare that nodes call it');
  // NodeTokens has set it.
  return node as ClusterNode;
});

const shared = { tag: 'Node agents', access: Allow.nodes, internal: true } as const;
const MAX_SMALL_BODY_BYTES = 16 * 1024;
/** Maximum size of a chunk of a log. Agents send at most a sixteenth of it. */
const MAX_LOG_CHUNK_BYTES = 4 * 1024 * 1024;

/** Maximum size of a body with frames: an agent adds frames until a chunk is full, and the last one may have any size. */
const MAX_FRAMES_BYTES = CHANNEL_CHUNK_BYTES + MAX_PAYLOAD_BYTES;

/** The API for node agents. The protocol is in `libs/contracts/agent-protocol.ts`. */
@Controller()
export class AgentsController {
  constructor(
    private readonly agents: AgentsService,
    private readonly bodies: RequestBodies,
    private readonly bundles: AgentBundles,
  ) {}

  @Operation({
    ...shared,
    method: 'POST',
    path: '/register',
    id: 'agentRegister',
    summary: 'Exchange a bootstrap token',
    access: Allow.bootstrap,
    response: Responses.none,
    returnsSecret: true,
    maxBodyBytes: MAX_SMALL_BODY_BYTES,
  })
  register(@Req() request: Request, @Body() body: Register): Promise<RegisterResponse> {
    return this.agents.register(request.get('authorization'), body, protocolOf(request));
  }

  @Operation({
    ...shared,
    method: 'POST',
    path: '/boot-failure',
    id: 'agentBootFailure',
    summary: 'Report why the machine of a node failed to boot',
    access: Allow.bootstrap,
    response: Responses.none,
    maxBodyBytes: MAX_SMALL_BODY_BYTES,
  })
  bootFailure(@CurrentNode() node: ClusterNode, @Body() body: BootFailure): Promise<Record<string, never>> {
    return this.agents.recordBootFailure(node, body);
  }

  @Operation({
    ...shared,
    method: 'GET',
    path: '/bundle/{sha256}',
    id: 'agentBundle',
    summary: 'Fetch the agent of this release by its checksum',
    access: Allow.machines,
    // Sent from memory and not as a stream: only authenticated callers may hold streams.
    response: Responses.none,
  })
  async bundle(@TextParam('sha256') sha256: string, @Res() response: Response): Promise<void> {
    const content = await this.bundles.get(sha256);
    response.setHeader('Cache-Control', UNCHANGING);
    response.type('application/octet-stream').send(content);
  }

  @Operation({
    ...shared,
    method: 'POST',
    path: '/poll',
    id: 'agentPoll',
    summary: 'Wait for the desired state',
    response: Responses.none,
    returnsSecret: true,
    maxBodyBytes: MAX_SMALL_BODY_BYTES,
  })
  poll(@CurrentNode() node: ClusterNode, @Body() body: Poll, @Req() request: Request): Promise<PollResponse> {
    const gone = () => new Promise((resolve) => request.once('close', resolve));
    return this.agents.poll(node, { ...body, protocolVersion: protocolOf(request) }, gone);
  }

  @Operation({
    ...shared,
    method: 'POST',
    path: '/report',
    id: 'agentReport',
    summary: 'Report the actual state',
    response: Responses.none,
  })
  report(@CurrentNode() node: ClusterNode, @Body() body: Report): Promise<Record<string, never>> {
    return this.agents.report(node, body);
  }

  @Operation({
    ...shared,
    method: 'PUT',
    path: '/runs/{run_id}/logs/{stream}',
    id: 'agentRunLog',
    summary: 'Append to a run log',
    response: Responses.none,
    binaryBody: true,
    maxBodyBytes: MAX_LOG_CHUNK_BYTES,
  })
  runLog(
    @CurrentNode() node: ClusterNode,
    @IdParam('run_id') runId: number,
    @WordParam('stream', LOG_STREAMS.run) stream: string,
    @Query() query: LogOffset,
    @Req() request: Request,
  ): Promise<LogChunkResponse> {
    return this.agents.runLog(node, runId, stream as LogStream, this.chunk(query, request));
  }

  @Operation({
    ...shared,
    method: 'PUT',
    path: '/node/logs/{stream}',
    id: 'agentNodeLog',
    summary: 'Append to a node log',
    response: Responses.none,
    binaryBody: true,
    maxBodyBytes: MAX_LOG_CHUNK_BYTES,
  })
  nodeLog(
    @CurrentNode() node: ClusterNode,
    @WordParam('stream', LOG_STREAMS.node) stream: string,
    @Query() query: LogOffset,
    @Req() request: Request,
  ): Promise<LogChunkResponse> {
    return this.agents.nodeLog(node, stream as OutputStream, this.chunk(query, request));
  }

  @Operation({
    ...shared,
    method: 'GET',
    path: '/runs/{run_id}/requests',
    id: 'agentRunRequests',
    summary: 'Wait for requests to the process of a run',
    response: Responses.binary,
  })
  async requests(
    @CurrentNode() node: ClusterNode,
    @IdParam('run_id') runId: number,
    @Query() query: Requests,
    @Res() response: Response,
  ): Promise<void> {
    const gone = () => new Promise((resolve) => response.once('close', resolve));
    const records = await this.agents.requests(node, runId, query, gone);
    response.type('application/octet-stream').send(records);
  }

  @Operation({
    ...shared,
    method: 'PUT',
    path: '/runs/{run_id}/frames',
    id: 'agentRunFrames',
    summary: 'Append frames from the process of a run',
    response: Responses.none,
    binaryBody: true,
    maxBodyBytes: MAX_FRAMES_BYTES,
    errors: [409],
  })
  frames(
    @CurrentNode() node: ClusterNode,
    @IdParam('run_id') runId: number,
    @Req() request: Request,
  ): Promise<FramesResponse> {
    return this.agents.frames(node, runId, () => this.bodies.bytes(request));
  }

  @Operation({
    ...shared,
    method: 'GET',
    path: '/runs/{run_id}/files/{index}',
    id: 'agentRunFile',
    summary: 'Fetch a file of a run',
    response: Responses.binary,
  })
  async runFile(
    @CurrentNode() node: ClusterNode,
    @IdParam('run_id') runId: number,
    @IdParam('index') index: number,
    @Query() { key }: FileKey,
    @Res() response: Response,
  ): Promise<void> {
    await sendContent(response, await this.agents.runFile(node, runId, { index, key }));
  }

  private chunk({ offset }: LogOffset, request: Request) {
    return { offset, read: () => this.bodies.bytes(request) };
  }
}

/** Returns the protocol version that the agent sends; null if it sends none. */
function protocolOf(request: Request): number | null {
  const version = request.get(PROTOCOL_HEADER) ?? '';
  return /^\d{1,4}$/.test(version) ? Number(version) : null;
}
