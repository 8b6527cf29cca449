// The entry for Node: settings come from the environment, a profile or a quickstart.
import { BaseClient } from './client.ts';
import { nodeHost } from './node/host.ts';
import { checked, loadSettings, sessionOf, type Settings } from './node/settings.ts';
import { Transport, type TransportOptions } from './transport.ts';
import { VERSION } from './version.ts';

export * from './face.ts';
export { loadSettings, type Settings } from './node/settings.ts';
export { VERSION } from './version.ts';

export interface ClientOptions extends Partial<Pick<TransportOptions, 'fetch' | 'retryMs' | 'headers'>> {
  profile?: string;
  /** Settings in place of those of the environment, a profile or a quickstart. */
  settings?: Settings;
  /** Makes the sockets of notebooks, for a Node that has none. */
  webSocket?: typeof WebSocket;
}

/** A client of the platform. Where it is and who calls comes from the environment, a profile or a quickstart. */
export class Client extends BaseClient {
  readonly settings: Settings;

  /** @throws ConfigurationError if there are no settings, or they cannot be used */
  constructor(options: string | ClientOptions = {}) {
    const { profile, settings, webSocket, headers, ...others } =
      typeof options === 'string' ? { profile: options } : options;
    const used = settings ? checked(settings) : loadSettings(profile);
    const agent = { 'User-Agent': `managed-spark-typescript/${VERSION}` };
    const transport = new Transport({
      ...others,
      url: used.url,
      session: sessionOf(used),
      headers: { ...agent, ...headers },
    });
    super({ transport, host: nodeHost(webSocket) });
    this.settings = used;
  }
}
