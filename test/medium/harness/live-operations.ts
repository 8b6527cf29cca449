import { Controller, Module, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Allow } from '../../../src/platform/kernel/auth/access';
import type { Principal, WorkspaceScope } from '../../../src/platform/kernel/auth/principal';
import { CurrentPrincipal, InWorkspace } from '../../../src/platform/http/auth/request-principal';
import { notFound } from '../../../src/platform/kernel/errors/domain-error';
import { Responses, Operation } from '../../../src/platform/http/operation';
import { IdParam } from '../../../src/platform/http/parameters';
import { Upgrade } from '../../../src/platform/http/upgrades/upgrade';
import type { UpgradeHandler } from '../../../src/platform/http/upgrades/upgrades';

const EVERY_MS = 20;
const shared = { summary: 'For tests', tag: 'Tests' };

/** Operations that stay open until somebody ends them. */
@Controller()
class LiveController {
  @Upgrade({ ...shared, path: '/workspace/{workspace_id}/echo/{number}', id: 'echo', access: Allow.workspace('RUN') })
  echo(
    @CurrentPrincipal() { username }: Principal,
    @InWorkspace() { workspace: { name } }: WorkspaceScope,
    @IdParam('number') number: number,
  ): UpgradeHandler {
    if (number === 404) throw notFound('ECHO.NOT_FOUND', 'There is no such echo.');
    return (socket) => {
      if (number === 500) throw new Error('after the handshake');
      socket.send(`${username} in ${name}: ${number}`);
      socket.on('message', (message: Buffer) => socket.send(message));
    };
  }

  @Upgrade({ ...shared, path: '/managed', id: 'managed', access: Allow.tenant(['CAN MANAGE CLUSTER']) })
  managed(): UpgradeHandler {
    return (socket) => socket.send('hello');
  }

  @Operation({
    ...shared,
    method: 'GET',
    path: '/workspace/{workspace_id}/endless',
    id: 'endless',
    access: Allow.workspace('RUN'),
    response: Responses.text,
    internal: true,
  })
  endless(@Res() response: Response): Promise<void> {
    response.write('hello');
    const timer = setInterval(() => response.write('.'), EVERY_MS);
    return new Promise((resolve) => {
      response.once('close', () => {
        clearInterval(timer);
        resolve();
      });
    });
  }
}

@Module({ controllers: [LiveController] })
export class LiveOperations {}
