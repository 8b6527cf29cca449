import { type DynamicModule, Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { BlobStore } from '../../libs/object-storage/blob-store';
import { LogStore } from '../../libs/object-storage/log-store';
import { OutboundPolicy } from '../../libs/outbound-policy/outbound-policy';
import { Config } from '../config/config';
import { createDataSource } from '../database/data-source';
import { AuditTrail } from './http/audit/audit-trail';
import { Installation } from './kernel/installation/installation';
import { DatabaseLifecycle } from './kernel/persistence/database-lifecycle';
import { Transactions } from './kernel/persistence/transactions';
import { createLogger, LOGGER, type Logger } from './kernel/logging/logger';
import { setProductName } from './kernel/product/product-name';
import { RedisFailures } from './kernel/errors/redis-failures';
import { openBlobStore, openLogStore } from './kernel/storage/stores';
import { sendAfterCommit } from './kernel/notifications/after-commit';
import { PgListener } from './kernel/notifications/pg-listener';
import { References } from './http/resources/references';
import { ThisWorker } from './background/workers/this-worker';
import { WorkerWatch } from './background/workers/worker-watch';

/** Provides what every module uses, in API and worker. */
@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [
    {
      provide: Config,
      useFactory: () => {
        const config = Config.load();
        setProductName(config.product.name);
        return config;
      },
    },
    {
      provide: LOGGER,
      inject: [Config],
      useFactory: (config: Config) => createLogger('platform', config.product.logLevel),
    },
    {
      provide: OutboundPolicy,
      inject: [Config],
      useFactory: ({ outbound }: Config) =>
        new OutboundPolicy({
          schemes: outbound.schemes,
          allowedClasses: outbound.addresses,
          allowedNetworks: outbound.networks,
        }),
    },
    {
      provide: LogStore,
      inject: [Config, LOGGER],
      useFactory: ({ storage }: Config, logger: Logger) => openLogStore(storage, logger),
    },
    { provide: BlobStore, inject: [Config], useFactory: ({ storage }: Config) => openBlobStore(storage) },
    DatabaseLifecycle,
    Transactions,
    References,
    AuditTrail,
    Installation,
    PgListener,
    RedisFailures,
    ThisWorker,
    WorkerWatch,
  ],
  exports: [
    Config,
    LOGGER,
    OutboundPolicy,
    LogStore,
    BlobStore,
    Transactions,
    References,
    AuditTrail,
    Installation,
    PgListener,
    RedisFailures,
    ThisWorker,
    WorkerWatch,
    DiscoveryModule,
  ],
})
export class PlatformModule {
  /** In a worker, a lock may be awaited as long as a statement may run, because no user waits for it. */
  static of(process: 'api' | 'worker'): DynamicModule {
    return {
      module: PlatformModule,
      providers: [
        {
          provide: DataSource,
          inject: [Config, PgListener],
          useFactory: async ({ database }: Config, listener: PgListener) => {
            const lockTimeoutMs = process === 'api' ? database.lockTimeoutMs : undefined;
            const dataSource = await createDataSource(database, 'platform', lockTimeoutMs).initialize();
            sendAfterCommit(dataSource, listener);
            return dataSource;
          },
        },
      ],
      exports: [DataSource],
    };
  }
}
