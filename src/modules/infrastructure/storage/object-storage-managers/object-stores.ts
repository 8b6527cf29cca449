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

/** Stores kept open; each holds the access tokens that its provider gave. */
const KEPT = 200;
const KEPT_MS = 10 * 60_000;

/** Opens the stores of managers and keeps them open, so that not every request asks the provider for a new token. */
@Injectable()
export class ObjectStores {
  private readonly kept = new LRUCache<string, ObjectStore>({ max: KEPT, ttl: KEPT_MS });

  constructor(
    private readonly config: Config,
    private readonly outbound: OutboundPolicy,
    private readonly transactions: Transactions,
    private readonly credentialsConfs: CredentialsConfsService,
  ) {}

  /** The store of a manager; one kept from before its credentials were changed is not used again. */
  async open(manager: ObjectStorageManagerRow): Promise<ObjectStore> {
    const { tenant_id: tenantId, object_storage_manager_id: id, credentials_conf_id: credentialsId } = manager;
    const key = [id, credentialsId, manager.credentials_updated.toISOString()].join();
    const kept = this.kept.get(key);
    if (kept) return kept;
    const { values } = await this.transactions.read((tx) => this.credentialsConfs.reveal(tx, tenantId, credentialsId));
    const provider = storeCloudProvider(manager.cloud_provider_id);
    if (!provider) throw new Error(`Object storage manager ${id} is of a provider without object stores`);
    const store = this.make(provider, manager.object_storage_bucket_name, values);
    this.kept.set(key, store);
    return store;
  }

  /** A store with these credentials; throws a 400 for an impossible bucket name, key or endpoint. Calls nothing. */
  make(provider: StoreCloudProviderName, bucket: string, credentials: Readonly<Record<string, string>>): ObjectStore {
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
