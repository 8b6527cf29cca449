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
      'A user has at most 100 active tokens. Creating another fails with 409 until one is revoked or expires.',
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
    description: 'Expired and revoked tokens are listed for another `ENDED_ROWS_RETENTION_DAYS`.',
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
    tag: TAG,
    access: Allow.signedIn,
    response: Responses.message,
    status: 201,
  })
  revokeToken(@CurrentPrincipal() principal: Principal, @IdParam('token_id') tokenId: number): Promise<Message> {
    return this.service.revoke(principal, tokenId);
  }
}
