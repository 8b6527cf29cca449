import { Controller, Req } from '@nestjs/common';
import { ApiQuery } from '@nestjs/swagger';
import { Allow } from '../../../../platform/kernel/auth/access';
import { bearerToken } from '../../../../platform/http/auth/presented-token';
import type { Principal, WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import {
  type AuthenticatedRequest,
  CurrentPrincipal,
  InWorkspace,
} from '../../../../platform/http/auth/request-principal';
import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { Responses, Operation } from '../../../../platform/http/operation';
import { IdParam, TextParam } from '../../../../platform/http/parameters';
import { Upgrade } from '../../../../platform/http/upgrades/upgrade';
import type { UpgradeHandler } from '../../../../platform/http/upgrades/upgrades';
import { KernelSocket, KernelStatus } from './dto/notebook.dto';
import { KernelSocketsService } from './kernel-sockets.service';
import { KernelsService } from './kernels.service';

const tag = 'Notebooks';
const base = '/workspace/{workspace_id}/notebook/{notebook_id}/kernel';
const run = Allow.workspace('RUN');
/** Key of a session in the query and in the path: the product's name and this suffix. */
const SESSION_KEY = /_session$/;

@Controller()
export class KernelsController {
  constructor(
    private readonly kernels: KernelsService,
    private readonly sockets: KernelSocketsService,
  ) {}

  @Operation({
    method: 'POST',
    path: `${base}/startOrGetStatus`,
    id: 'startOrGetKernel',
    summary: 'Start the kernel of a RUNNING notebook if it is dead, and get its state',
    description:
      'Starts a kernel if the one of the instance is dead, and returns its state; a kernel that is starting, idle or busy is left alone. The instance must be RUNNING, else the answer is 409, which clients repeat until it is ready.',
    tag,
    access: run,
    response: Responses.one(KernelStatus),
    errors: [409],
  })
  start(@InWorkspace() scope: WorkspaceScope, @IdParam('notebook_id') notebookId: number): Promise<KernelStatus> {
    return this.kernels.startOrGet(scope, notebookId);
  }

  @Operation({
    method: 'GET',
    path: `${base}/status`,
    id: 'getKernelStatus',
    summary: 'Get the state of the kernel of a notebook',
    description:
      'Returns the state of the kernel without changing anything. Kernels that are starting, idle or busy accept requests.',
    tag,
    access: Allow.workspace('VIEW'),
    response: Responses.one(KernelStatus),
  })
  status(@InWorkspace() scope: WorkspaceScope, @IdParam('notebook_id') notebookId: number): Promise<KernelStatus> {
    return this.kernels.status(scope, notebookId);
  }

  @Operation({
    method: 'POST',
    path: `${base}/interrupt`,
    id: 'interruptKernel',
    summary: 'Interrupt the kernel and cancel the Spark jobs of the running cell',
    description:
      'Interrupts the running cell and cancels its Spark jobs; variables are kept. Without a kernel, the answer is 409.',
    tag,
    access: run,
    response: Responses.one(KernelStatus),
    status: 201,
    errors: [409],
  })
  interrupt(@InWorkspace() scope: WorkspaceScope, @IdParam('notebook_id') notebookId: number): Promise<KernelStatus> {
    return this.kernels.interrupt(scope, notebookId);
  }

  @Operation({
    method: 'POST',
    path: `${base}/restart`,
    id: 'restartKernel',
    summary: 'Restart the kernel; waiting requests are aborted',
    description:
      'Ends the kernel and starts another with a new id: variables are lost and waiting requests are aborted. Without a kernel, the answer is 409.',
    tag,
    access: run,
    response: Responses.one(KernelStatus),
    status: 201,
    errors: [409],
  })
  restart(@InWorkspace() scope: WorkspaceScope, @IdParam('notebook_id') notebookId: number): Promise<KernelStatus> {
    return this.kernels.restart(scope, notebookId);
  }

  @Operation({
    method: 'GET',
    path: `${base}/ws`,
    id: 'prepareKernelSocket',
    summary: 'Prepare a WebSocket to the kernel of a notebook',
    description:
      'Checks that the kernel can be reached and returns its id; `openKernelSocket` then opens the WebSocket. A query parameter whose name ends in `_session` may repeat the bearer token of the request; any other token is refused.',
    tag,
    access: run,
    response: Responses.one(KernelSocket),
    readsRawQuery: true,
  })
  @ApiQuery({
    name: '{product}_session',
    required: false,
    schema: { type: 'string' },
    description: 'The bearer token of the request; {product} is the name of the product in lower case',
  })
  prepare(
    @InWorkspace() scope: WorkspaceScope,
    @IdParam('notebook_id') notebookId: number,
    @Req() request: AuthenticatedRequest,
  ): Promise<KernelSocket> {
    assertSameSession(request);
    return this.kernels.socket(scope, notebookId);
  }

  @Upgrade({
    path: `${base}/ws/{session_key}/{token}`,
    id: 'openKernelSocket',
    summary: 'Open a WebSocket to the kernel of a notebook; each text frame is a Jupyter message',
    tag,
    access: run,
    tokenInPath: 'token',
    isPublished: true,
    description:
      'Each text frame is a message of the Jupyter protocol 5.3. `session_key` ends in `_session`; the token at the end of the path replaces the Authorization header. A session that reconnects receives the messages that it has missed.',
    errors: [409],
  })
  async connect(
    @InWorkspace() scope: WorkspaceScope,
    @CurrentPrincipal() { sessionId }: Principal,
    @IdParam('notebook_id') notebookId: number,
    @TextParam('session_key', 'Any string that ends in _session')
    sessionKey: string,
    @TextParam('token', 'The bearer token, in place of the header Authorization') _token: string,
  ): Promise<UpgradeHandler> {
    if (!SESSION_KEY.test(sessionKey)) {
      throw invalid('REQUEST.INVALID', 'The session_key in the path must end in _session.');
    }
    return this.opened(scope, notebookId, sessionId);
  }

  @Upgrade({
    path: `${base}/socket`,
    id: 'connectKernel',
    summary: 'Open a WebSocket to the kernel of a notebook, with the header Authorization or the cookie of the console',
    tag,
    access: run,
    isPublished: true,
    description:
      'Opens the same WebSocket as `openKernelSocket`, without a token in the path. A browser that is logged in to the console sends its cookie; its page must come from this server.',
    isExtension: true,
    errors: [409],
  })
  async connectWithSession(
    @InWorkspace() scope: WorkspaceScope,
    @CurrentPrincipal() { sessionId }: Principal,
    @IdParam('notebook_id') notebookId: number,
  ): Promise<UpgradeHandler> {
    return this.opened(scope, notebookId, sessionId);
  }

  private async opened(scope: WorkspaceScope, notebookId: number, sessionId: string): Promise<UpgradeHandler> {
    return this.sockets.connect(await this.kernels.connectable(scope, notebookId), sessionId);
  }
}

/** Throws a 400 unless every query parameter is a session key and repeats the token of the request. */
function assertSameSession(request: AuthenticatedRequest): void {
  const token = bearerToken(request);
  for (const [key, value] of Object.entries(request.query)) {
    if (!SESSION_KEY.test(key)) throw invalid('REQUEST.INVALID', `The query parameter ${key} is unknown.`);
    if (value !== token) throw invalid('REQUEST.INVALID', `${key} must repeat the token of the request.`);
  }
}
