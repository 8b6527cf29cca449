import { ContainerClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { AzureKeySpace } from '../../libs/object-storage/azure-key-space';
import { KeyedObjectStore } from '../../libs/object-storage/keyed-object-store';
import { DEFAULT_STORE_TIMEOUTS } from '../../libs/object-storage/object-store';
import { describeObjectStoreContract } from '../../libs/object-storage/object-store.contract';
import { newBucketName, outbound, storeServers } from './harness/store-servers';

describeObjectStoreContract('Azure Blob Storage on azurite', async () => {
  const { url, accountName, accountKey } = storeServers().azurite;
  const credential = new StorageSharedKeyCredential(accountName, accountKey);
  const wrong = Buffer.from('a-secret-that-is-wrong').toString('base64');
  const container = newBucketName();
  await new ContainerClient(`${url}/${container}`, credential).create();
  // The emulator does not support service principals, so the account's key stands in for one.
  const open = (name: string, key = accountKey, endpoint = url, timeouts = DEFAULT_STORE_TIMEOUTS) => {
    const location = {
      endpoint,
      container: name,
      credential: new StorageSharedKeyCredential(accountName, key),
      secrets: [key],
    };
    return new KeyedObjectStore(new AzureKeySpace(location, outbound.agents), timeouts);
  };
  return {
    store: open(container),
    missingBucket: open(newBucketName()),
    wrongSecret: { store: open(container, wrong), secret: wrong },
    signer: { store: open(container), isChecked: true },
    at: (endpoint, timeouts) => open(container, accountKey, endpoint, timeouts),
    // Uncommitted blocks stay for a week and are not listed.
    unfinishedUploads: null,
    close: async () => {},
  };
});
