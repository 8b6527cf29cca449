import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

@Injectable()
export class HealthRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Rejects when PostgreSQL does not answer, or there is no connection to be had. */
  async ping(): Promise<void> {
    await this.dataSource.query('SELECT 1');
  }
}
