import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { StorageSharedKeyCredential } from '@azure/storage-blob';
import type { JWT } from 'google-auth-library';
import type { AzureLocation } from '../../../libs/object-storage/azure-key-space';
import type { GcsLocation } from '../../../libs/object-storage/gcs-key-space';
import { newRsaPair } from '../../harness/rsa-pair';
import { storeServers } from './store-servers';

/** Returns the location with the emulator's address; token requests go to {@link GoogleSignIn}, because the emulator has none. */
export function emulatedGcs(location: GcsLocation): GcsLocation {
  const client = location.client as JWT;
  const { transporter } = client;
  client.transporter = {
    defaults: transporter.defaults,
    request: (options) => {
      const isSignIn = /^https:\/\/(www|oauth2)\.googleapis\.com\/.*token$/.test(String(options.url));
      return transporter.request({ ...options, url: isSignIn ? GoogleSignIn.url : options.url });
    },
  };
  return { ...location, endpoint: storeServers().fakeGcs.url };
}

/** Returns a location of the Azure emulator, with the client secret as its account key, which the emulator checks. */
export function emulatedAzure(keys: { accountName: string; container: string; clientSecret: string }): AzureLocation {
  const { accountName, container, clientSecret } = keys;
  const credential = new StorageSharedKeyCredential(accountName, clientSecret);
  return { endpoint: storeServers().azurite.url, container, credential, secrets: [clientSecret] };
}

/** Returns private keys in PEM form: the key of the service account and an unknown one. */
export function serviceAccountKeys(): { known: string; unknown: string } {
  keys ??= { known: newRsaPair().privateKey, unknown: newRsaPair().privateKey };
  return keys;
}

let keys: { known: string; unknown: string } | undefined;

/** Returns a token for requests signed with the known key, and Google's error for others. */
export class GoogleSignIn {
  private static current: GoogleSignIn | undefined;

  private constructor(
    private readonly server: Server,
    private readonly address: string,
  ) {}

  static get url(): string {
    if (!GoogleSignIn.current) throw new Error('Nobody answers sign-ins to Google');
    return GoogleSignIn.current.address;
  }

  static async start(): Promise<void> {
    const publicKey = createPublicKey(serviceAccountKeys().known);
    const server = createServer((request, response) => {
      const answer = (status: number, body: object) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      void text(request).then((body) =>
        isSigned(body, publicKey)
          ? answer(200, { access_token: 'token', token_type: 'Bearer', expires_in: 3600 })
          : answer(400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    GoogleSignIn.current = new GoogleSignIn(server, `http://127.0.0.1:${port}/token`);
  }

  static stop(): void {
    GoogleSignIn.current?.server.close().closeAllConnections();
    GoogleSignIn.current = undefined;
  }
}

/** True if the assertion of a token request, a form or JSON, has a valid signature. */
function isSigned(body: string, publicKey: KeyObject): boolean {
  const assertion = body.startsWith('{')
    ? (JSON.parse(body) as { assertion: string }).assertion
    : new URLSearchParams(body).get('assertion');
  const [header = '', claims = '', signature = ''] = (assertion ?? '').split('.');
  return verify('sha256', Buffer.from(`${header}.${claims}`), publicKey, Buffer.from(signature, 'base64url'));
}
