import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Reconciler } from '../../../../platform/workflows/reconcile-loop';

/** Removes logins that began in a browser and never came back. */
@Injectable()
export class SsoLoginSweeper implements Reconciler {
  readonly name = 'sso-logins';

  constructor(private readonly dataSource: DataSource) {}

  async reconcile(): Promise<void> {
    await this.dataSource.query('DELETE FROM sso_logins WHERE expires_at < platform_now()');
  }
}
