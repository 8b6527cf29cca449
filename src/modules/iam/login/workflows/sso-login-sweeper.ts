import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../../../config/config';
import { Reconciler } from '../../../../platform/workflows/reconciler';
import { SsoLoginsRepository } from '../sso-logins.repository';

/** Removes logins that began in a browser and never came back. */
@Injectable()
export class SsoLoginSweeper extends Reconciler {
  readonly name = 'sso-logins';
  readonly everyMs = this.config.worker.reconcileMs;
  readonly deadlineMs = 30_000;

  constructor(
    private readonly dataSource: DataSource,
    private readonly logins: SsoLoginsRepository,
    private readonly config: Config,
  ) {
    super();
  }

  async reconcile(): Promise<void> {
    await this.logins.deleteExpired(this.dataSource.manager);
  }
}
