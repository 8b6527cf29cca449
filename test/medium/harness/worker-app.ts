import type { INestApplicationContext, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { Drivers } from '../../../src/modules/execution/clusters/provisioning/drivers';
import { ThisWorker } from '../../../src/platform/background/workers/this-worker';
import { WorkerModule } from '../../../src/worker.module';
import { plannedTestDatabase } from '../../harness/test-databases';
import { configure, prepare } from './test-api';

/** The services of the worker without its loops, over a database of its own; usable from the first `beforeAll` on. */
export class WorkerApp {
  private context: INestApplicationContext | undefined;

  /** Creates the application for the tests of the calling block, as a worker whose tenants are kept apart. */
  constructor(environment: Record<string, string> = {}) {
    const database = plannedTestDatabase();
    beforeAll(async () => {
      await database.create();
      await prepare(configure(database.url, environment));
      this.context = await NestFactory.createApplicationContext(WorkerModule, { logger: false, abortOnError: false });
      this.get(ThisWorker).setId(1);
      this.get(Drivers).isolateTenants = () => true;
    });
    afterAll(async () => {
      await this.context?.close();
      await database.drop();
    });
  }

  get<T>(token: string | { prototype: T }): T {
    if (!this.context) throw new Error('The worker is not made yet: it can be used from beforeAll on');
    return this.context.get<T>(token as Type<T>);
  }

  get dataSource(): DataSource {
    return this.get(DataSource);
  }
}
