import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { Config } from '../config/config';
import { createDataSource } from '../database/data-source';
import { AuditTrail } from './audit/audit-trail';
import { DatabaseLifecycle } from './persistence/database-lifecycle';
import { Transactions } from './persistence/transactions';
import { createLogger, LOGGER } from './logging/logger';
import { setProductName } from './product/product-name';
import { PgListener } from './wakeups/pg-listener';

/** What every module uses, in both processes. */
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
      provide: DataSource,
      inject: [Config],
      useFactory: (config: Config) => createDataSource(config.database, 'platform').initialize(),
    },
    DatabaseLifecycle,
    Transactions,
    AuditTrail,
    PgListener,
  ],
  exports: [Config, LOGGER, DataSource, Transactions, AuditTrail, PgListener, DiscoveryModule],
})
export class PlatformModule {}
