import { Body, Controller, Query } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { Principal, TenantScope } from '../../../../platform/kernel/auth/principal';
import { CurrentPrincipal, CurrentScope } from '../../../../platform/http/auth/request-principal';
import type { Message } from '../../../../platform/kernel/dto/response-fields';
import { Responses, Operation } from '../../../../platform/http/operation';
import { type Page, PageQuery } from '../../../../platform/kernel/dto/page';
import { IdParam } from '../../../../platform/http/parameters';
import { CreateToken, TokenCreated, TokenRead } from './dto/token.dto';
import { PersonalTokensService } from './personal-tokens.service';

const TAG = 'Personal tokens';

@Controller()
export class PersonalTokensController {
  constructor(private readonly service: PersonalTokensService) {}

  @Operation({
    method: 'POST',
    path: '/user/token',
    id: 'createToken',
    summary: 'Create a token for programs, bound to the selected tenant',
    tag: TAG,
    access: Allow.tenant(),
    description:
      'Creates a token that works like a session in the selected tenant until it expires or is revoked. The token itself is returned only here. A personal token cannot create another. A user has at most 100 active tokens; one more is refused with 409 until one is revoked or expires.',
    response: Responses.one(TokenCreated),
    errors: [409],
  })
  @ApiBody({ required: false, type: CreateToken })
  createToken(
    @CurrentPrincipal() principal: Principal,
    @CurrentScope() scope: TenantScope,
    @Body() body: CreateToken,
  ): Promise<TokenCreated> {
    return this.service.create(principal, scope, body);
  }

  @Operation({
    method: 'GET',
    path: '/user/tokens',
    id: 'listTokens',
    summary: 'List your own tokens, newest first',
    description:
      'Returns your tokens with their expiry and last use, but not the tokens themselves. Expired and revoked ones are listed for another `ENDED_ROWS_RETENTION_DAYS` days.',
    tag: TAG,
    access: Allow.signedIn,
    response: Responses.page(TokenRead),
  })
  listTokens(@CurrentPrincipal() principal: Principal, @Query() query: PageQuery): Promise<Page<TokenRead>> {
    return this.service.list(principal, query);
  }

  @Operation({
    method: 'DELETE',
    path: '/user/token/{token_id}',
    id: 'revokeToken',
    summary: 'Revoke one of your own tokens at once',
    description: 'Ends one of your tokens: from now on, requests with it are refused with 401. It cannot be undone.',
    tag: TAG,
    access: Allow.signedIn,
    response: Responses.message,
    status: 201,
  })
  revokeToken(
    @CurrentPrincipal() principal: Principal,
    @IdParam('token_id', 'Id of the token; `listTokens` lists yours') tokenId: number,
  ): Promise<Message> {
    return this.service.revoke(principal, tokenId);
  }
}
