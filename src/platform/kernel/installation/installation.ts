import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { firstRow } from '../persistence/sql';
import type { InstallationRow } from './installation.entity';

/** Identifies the installation of the platform. All processes with the same database belong to one installation. */
@Injectable()
export class Installation {
  constructor(private readonly dataSource: DataSource) {}

  /** Reads the id each time: a copied database gets a new id, and no process may continue with the old one. */
  async id(): Promise<string> {
    const sql = 'SELECT installation_id FROM installation';
    const row = await firstRow<Pick<InstallationRow, 'installation_id'>>(this.dataSource.manager, sql);
    if (!row) throw new Error('The table installation has no row');
    return row.installation_id;
  }
}
