import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { firstRow } from '../persistence/sql';
import type { InstallationRow } from './installation.entity';

/** Which installation of the platform this is: every process with this database is of the same one. */
@Injectable()
export class Installation {
  constructor(private readonly dataSource: DataSource) {}

  /** Read each time: whoever copies a database gives the copy another id, and a process must not go on with the old one. */
  async id(): Promise<string> {
    const sql = 'SELECT installation_id FROM installation';
    const row = await firstRow<Pick<InstallationRow, 'installation_id'>>(this.dataSource.manager, sql);
    if (!row) throw new Error('The table installation has no row');
    return row.installation_id;
  }
}
