import { type AuthConfig, readAuthConfig } from './auth.config';
import { type BillingConfig, readBillingConfig } from './billing.config';
import { type AgentConfig, type ComputeConfig, readAgentConfig, readComputeConfig } from './compute.config';
import { type DatabaseConfig, readDatabaseConfig } from './database.config';
import { EnvReader } from './env-reader';
import { type HttpConfig, readHttpConfig } from './http.config';
import { type OutboundConfig, readOutboundConfig } from './outbound.config';
import { type ProductConfig, readProductConfig } from './product.config';
import { readRedisConfig, type RedisConfig } from './redis.config';
import { readSecretsConfig, type SecretsConfig } from './secrets.config';
import { readStorageConfig, type StorageConfig } from './storage.config';
import { readWorkerConfig, type WorkerConfig } from './worker.config';

/** All settings from a process's environment; injected whole, read by area. */
export class Config {
  readonly product: ProductConfig;
  readonly http: HttpConfig;
  readonly database: DatabaseConfig;
  readonly redis: RedisConfig;
  readonly auth: AuthConfig;
  readonly secrets: SecretsConfig;
  readonly storage: StorageConfig;
  readonly worker: WorkerConfig;
  readonly compute: ComputeConfig;
  readonly agent: AgentConfig;
  readonly outbound: OutboundConfig;
  readonly billing: BillingConfig;

  constructor(env: EnvReader) {
    this.product = readProductConfig(env);
    this.http = readHttpConfig(env);
    this.database = readDatabaseConfig(env);
    this.redis = readRedisConfig(env);
    this.auth = readAuthConfig(env);
    this.secrets = readSecretsConfig(env);
    this.storage = readStorageConfig(env);
    this.worker = readWorkerConfig(env);
    this.compute = readComputeConfig(env);
    this.agent = readAgentConfig(env);
    this.outbound = readOutboundConfig(env);
    this.billing = readBillingConfig(env);
  }

  /** Reads the process environment; throws `ConfigurationError` naming every unusable variable. */
  static load(): Config {
    const env = new EnvReader();
    const config = new Config(env);
    env.assertValid();
    return config;
  }
}
