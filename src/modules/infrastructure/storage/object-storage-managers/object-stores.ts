import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { openObjectStore } from '../../../../../libs/object-storage/open-object-store';
import type { ObjectStore } from '../../../../../libs/object-storage/object-store';
import { OutboundPolicy } from '../../../../../libs/outbound-policy/outbound-policy';
import { Config } from '../../../../config/config';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { CredentialsConfsService } from '../../environments';
import type { ObjectStorageManagerRow } from './object-storage-managers.repository';
import { fromStore } from './store-errors';
import { STORE_ACCESS, storeCloudProvider, type StoreCloudProviderName } from './store-providers';

/** Each cached store holds the access tokens of its provider. */
const MAX_CACHED_STORES = 200;
const CACHE_TTL_MS = 10 * 60_000;

/** Opens and caches the stores of managers, so that not every request needs a new access token. */
@Injectable()
export class ObjectStores {
  private readonly cache = new LRUCache<string, ObjectStore>({ max: MAX_CACHED_STORES, ttl: CACHE_TTL_MS });

  constructor(
    private readonly config: Config,
    private readonly outbound: OutboundPolicy,
    private readonly transactions: Transactions,
    private readonly credentialsConfs: CredentialsConfsService,
  ) {}

  /** Opens the store of a manager. The cache key includes the last change of its credentials. */
  async open(manager: ObjectStorageManagerRow): Promise<ObjectStore> {
    const { tenant_id: tenantId, object_storage_manager_id: id, credentials_conf_id: credentialsId } = manager;
    const key = [id, credentialsId, manager.credentials_updated.toISOString()].join();
    const cached = this.cache.get(key);
    if (cached) return cached;
    const { values } = await this.transactions.read((tx) => this.credentialsConfs.reveal(tx, tenantId, credentialsId));
    const provider = storeCloudProvider(manager.cloud_provider_id);
    if (!provider) throw new Error(`The provider of object storage manager ${id} has no object stores`);
    const store = this.create(provider, manager.object_storage_bucket_name, values);
    this.cache.set(key, store);
    return store;
  }

  /** Creates a client without calling the store. Throws 400 for an invalid bucket name, key or endpoint. */
  create(provider: StoreCloudProviderName, bucket: string, credentials: Readonly<Record<string, string>>): ObjectStore {
    try {
      return openObjectStore({
        provider: STORE_ACCESS[provider].provider,
        bucket,
        credentials,
        outbound: this.outbound,
        timeouts: {
          callMs: this.config.storage.objectStoreTimeoutMs,
          idleMs: this.config.storage.objectStoreTimeoutMs,
        },
      });
    } catch (error) {
      throw fromStore(error);
    }
  }
}
