import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { missingMigration } from '../../../database/schema-compatibility';

@Injectable()
export class HealthRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * The migration that this release lacks to be allowed to use the schema, which may have been migrated meanwhile; null if
   * it may. Rejects when PostgreSQL does not answer, or there is no connection to be had.
   */
  async missingMigration(): Promise<string | null> {
    return missingMigration(this.dataSource.manager);
  }
}
