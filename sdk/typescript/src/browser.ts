// The entry point for browsers. The session is a cookie that scripts cannot read.
import { BaseClient } from './client.ts';
import { ConfigurationError } from './errors.ts';
import type { Host } from './host.ts';
import { CookieSession } from './sessions.ts';
import { Transport, type TransportOptions } from './transport.ts';

export * from './face.ts';

const HOST: Host = {
  open: (path) =>
    Promise.reject(new ConfigurationError(`A browser cannot open ${path}. Pass a File, or a name and the content.`)),
  save: (path) =>
    Promise.reject(
      new ConfigurationError(`A browser cannot write ${path}. Use read(), and let the user save the Blob.`),
    ),
  openSocket: (url) => new WebSocket(new URL(url, location.href.replace(/^http/, 'ws'))),
};

/** A client of the platform that serves the page, or of the one with this URL and session. */
export class Client extends BaseClient {
  constructor(options: Partial<TransportOptions> = {}) {
    super({ transport: new Transport({ url: '', session: new CookieSession(), ...options }), host: HOST });
  }
}
