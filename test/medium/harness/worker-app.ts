import type { INestApplicationContext, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { Drivers } from '../../../src/modules/execution/clusters/provisioning/drivers';
import { ThisWorker } from '../../../src/platform/background/workers/this-worker';
import { WorkerModule } from '../../../src/worker.module';
import { plannedTestDatabase } from '../../harness/test-databases';
import { configure, prepare } from './test-api';

/** What the worker is made of, without its loops, over a database of its own; there from the first `beforeAll` on. */
export class WorkerApp {
  private context: INestApplicationContext | undefined;

  /** Makes it for the tests of the block in which this is called, as a worker whose tenants are kept apart. */
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
