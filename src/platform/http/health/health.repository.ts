import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { missingMigration } from '../../../database/schema-compatibility';

@Injectable()
export class HealthRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Returns the migration of the schema that this release must know but does not, because a newer release has migrated it;
   * null if there is none. Rejects if PostgreSQL does not respond, or no connection is free.
   */
  async missingMigration(): Promise<string | null> {
    return missingMigration(this.dataSource.manager);
  }
}
