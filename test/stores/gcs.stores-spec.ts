import { generateKeyPairSync } from 'node:crypto';
import { JWT, PassThroughClient } from 'google-auth-library';
import { GcsKeySpace } from '../../libs/object-storage/gcs-key-space';
import { KeyedObjectStore } from '../../libs/object-storage/keyed-object-store';
import { DEFAULT_STORE_TIMEOUTS } from '../../libs/object-storage/object-store';
import { describeObjectStoreContract } from '../../libs/object-storage/object-store.contract';
import { newBucketName, outbound, storeServers } from './harness/store-servers';

describeObjectStoreContract('Google Cloud Storage on fake-gcs-server', async () => {
  const { url } = storeServers().fakeGcs;
  const bucket = newBucketName();
  const created = await fetch(`${url}/storage/v1/b?project=test`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: bucket }),
  });
  expect(created.status).toBe(200);
  const open = (name: string, endpoint = url, timeouts = DEFAULT_STORE_TIMEOUTS) => {
    const location = { bucket: name, endpoint, client: new PassThroughClient(), secrets: [] };
    return new KeyedObjectStore(new GcsKeySpace(location, outbound.agents, timeouts.callMs), timeouts);
  };
  // The emulator accepts all credentials, so this key is so wrong that the client cannot even sign its token request.
  const wrong = '-----BEGIN PRIVATE KEY-----\nYS1zZWNyZXQtdGhhdC1pcy13cm9uZw==\n-----END PRIVATE KEY-----\n';
  const signedIn = { bucket, endpoint: url, client: new JWT({ email: 'a@b.example', key: wrong }), secrets: [wrong] };
  const refused = new GcsKeySpace(signedIn, outbound.agents, DEFAULT_STORE_TIMEOUTS.callMs);
  const { privateKey: key } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const signer = { bucket, endpoint: url, client: new JWT({ email: 'a@b.example', key }), secrets: [key] };
  const signing = new GcsKeySpace(signer, outbound.agents, DEFAULT_STORE_TIMEOUTS.callMs);
  return {
    store: open(bucket),
    missingBucket: open(newBucketName()),
    wrongSecret: { store: new KeyedObjectStore(refused, DEFAULT_STORE_TIMEOUTS), secret: wrong },
    signer: { store: new KeyedObjectStore(signing, DEFAULT_STORE_TIMEOUTS), isChecked: false },
    at: (endpoint, timeouts) => open(bucket, endpoint, timeouts),
    // The API cannot list upload sessions.
    unfinishedUploads: null,
    close: async () => {},
  };
});
