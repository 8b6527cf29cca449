import type { Provider } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AccessGuard } from './access.guard';
import { TokenGuard } from './token.guard';

/** The guards of the API, in the order in which they run. */
export const GUARDS: Provider[] = [
  { provide: APP_GUARD, useClass: TokenGuard },
  { provide: APP_GUARD, useClass: AccessGuard },
];
