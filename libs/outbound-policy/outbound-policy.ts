import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import { Agent as HttpAgent, type AgentOptions } from 'node:http';
import { Agent as HttpsAgent, type AgentOptions as HttpsAgentOptions } from 'node:https';
import { type BlockList, isIP, type LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { type AddressClass, addressClass, isListed, networkList } from './address-class';

/** The endpoints that may be called. Addresses of the class `public` always may. */
export interface OutboundRules {
  schemes: readonly ('http' | 'https')[];
  /**
   * Classes of addresses that may be called besides public ones. `metadata` and `reserved` belong to no other class.
   */
  allowedClasses: readonly AddressClass[];
  /** Addresses and networks (`10.1.0.0/16`) that may be called whatever their class. */
  allowedNetworks?: readonly string[];
}

/** Agents for Node's `http` and `https` that connect to allowed addresses only. */
export interface OutboundAgents {
  http: HttpAgent;
  https: HttpsAgent;
}

/** The policy refuses a URL or the address that its host resolves to. The message may be shown to users. */
export class AddressRefusedError extends Error {
  readonly code = 'ERR_ADDRESS_REFUSED';

  constructor(message: string) {
    super(message);
    this.name = 'AddressRefusedError';
  }
}

type Resolve = (hostname: string, options: { all: true; family?: number; hints?: number }) => Promise<LookupAddress[]>;
type CreateConnection = HttpAgent['createConnection'];

/**
 * Decides which endpoints named by users the platform may call, so that nobody reaches the platform's own network or a
 * cloud's metadata service through it. URLs are checked when they are stored and addresses when a connection is made:
 * the address that was checked is the one connected to, so a name that resolves differently the second time gains
 * nothing, and a redirect is checked like a first call.
 */
export class OutboundPolicy {
  private readonly allowedNetworks: BlockList;
  private cachedAgents: OutboundAgents | null = null;
  private cachedPublicOnly: OutboundPolicy | null = null;

  /** @param resolve resolves host names; tests replace it */
  constructor(
    private readonly rules: OutboundRules,
    private readonly resolve: Resolve = systemResolve,
  ) {
    this.allowedNetworks = networkList(rules.allowedNetworks ?? []);
  }

  /**
   * Checks a URL without resolving its host; throws {@link AddressRefusedError}. The URL parser turns decimal, octal,
   * hexadecimal and short forms of an address into the usual one.
   */
  assertUrl(text: string): URL {
    if (!URL.canParse(text)) throw new AddressRefusedError('The endpoint is not a URL.');
    const url = new URL(text);
    if (!this.rules.schemes.some((scheme) => url.protocol === `${scheme}:`)) {
      throw new AddressRefusedError(
        `The endpoint has the scheme ${url.protocol.slice(0, -1)}; only ${this.rules.schemes.join(' and ')} may be used.`,
      );
    }
    if (url.username !== '' || url.password !== '') {
      throw new AddressRefusedError('The endpoint contains a user name or password; send them as credentials instead.');
    }
    this.assertHost(url.hostname);
    return url;
  }

  /** Checks a host alone, an address or a name, like {@link assertUrl}; for protocols other than HTTP. */
  assertHost(hostname: string): void {
    const bare = hostname.replace(/^\[|\]$/g, '');
    const url = URL.parse(`http://${isIP(bare) === 6 ? `[${bare}]` : bare}/`);
    if (!url) throw new AddressRefusedError('The endpoint has no valid host.');
    const host = url.hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) !== 0) this.assertAddress(host);
    else if (/(^|\.)localhost\.?$/i.test(host)) this.assertAddress('127.0.0.1', host);
  }

  /** Throws {@link AddressRefusedError} unless this IP address may be called. */
  assertAddress(address: string, hostname = address): void {
    const kind = addressClass(address);
    if (kind === 'public' || this.rules.allowedClasses.includes(kind)) return;
    if (isListed(this.allowedNetworks, address)) return;
    const target = hostname === address ? address : `${hostname}, which is at ${address},`;
    throw new AddressRefusedError(`Calls to ${target} are refused: it is a ${kind} address. ${REMEDY}`);
  }

  /**
   * Resolves like `dns.lookup`, but fails unless every address of the host is allowed: a host that mixes allowed and
   * refused addresses is misconfigured or hostile.
   */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    const { family, hints } = options;
    this.resolveAllowed(hostname, { family: familyNumber(family), hints }).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };

  /** The same policy for public addresses only. */
  get publicOnly(): OutboundPolicy {
    this.cachedPublicOnly ??= new OutboundPolicy({ schemes: this.rules.schemes, allowedClasses: [] }, this.resolve);
    return this.cachedPublicOnly;
  }

  /** Agents that keep connections open; every call returns the same ones. */
  get agents(): OutboundAgents {
    this.cachedAgents ??= this.agentsWith({ keepAlive: true });
    return this.cachedAgents;
  }

  /** Separate agents, for callers that trust other certificates: connections are shared only within an agent. */
  agentsWith(more: HttpsAgentOptions): OutboundAgents {
    const options: HttpsAgentOptions = { ...more, lookup: this.lookup };
    const refusal = (host: string | null | undefined) => this.refusalOf(host);
    return { http: new GuardedHttpAgent(options, refusal), https: new GuardedHttpsAgent(options, refusal) };
  }

  private async resolveAllowed(
    hostname: string,
    options: { family?: number; hints?: number },
  ): Promise<[LookupAddress, ...LookupAddress[]]> {
    const [first, ...others] = await this.resolve(hostname, { ...options, all: true });
    if (!first) throw Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
    for (const { address } of [first, ...others]) this.assertAddress(address, hostname);
    return [first, ...others];
  }

  /** Node does not look up a host that is already an address, so the agents check it here. */
  private refusalOf(host: string | null | undefined): Error | null {
    if (!host || isIP(host) === 0) return null;
    try {
      this.assertAddress(host);
      return null;
    } catch (error) {
      return error as Error;
    }
  }
}

const REMEDY = 'An administrator can allow it in the outbound policy.';

type Refusal = (host: string | null | undefined) => Error | null;

class GuardedHttpAgent extends HttpAgent {
  constructor(
    options: AgentOptions,
    private readonly refusal: Refusal,
  ) {
    super(options);
  }

  override createConnection(...[options, callback]: Parameters<CreateConnection>): ReturnType<CreateConnection> {
    return guarded(this.refusal(options.host), callback, () => super.createConnection(options, callback));
  }
}

class GuardedHttpsAgent extends HttpsAgent {
  constructor(
    options: HttpsAgentOptions,
    private readonly refusal: Refusal,
  ) {
    super(options);
  }

  override createConnection(...[options, callback]: Parameters<CreateConnection>): ReturnType<CreateConnection> {
    return guarded(this.refusal(options.host), callback, () => super.createConnection(options, callback));
  }
}

function guarded(
  refusal: Error | null,
  callback: Parameters<CreateConnection>[1],
  connect: () => ReturnType<CreateConnection>,
): ReturnType<CreateConnection> {
  if (!refusal) return connect();
  // Thrown here, the error would leave http.request() instead of reaching the request's error event.
  process.nextTick(() => callback?.(refusal, undefined as unknown as Duplex));
  return undefined;
}

function familyNumber(family: number | 'IPv4' | 'IPv6' | undefined): number | undefined {
  if (family === 'IPv4') return 4;
  return family === 'IPv6' ? 6 : family;
}

function systemResolve(hostname: string, options: { all: true; family?: number; hints?: number }) {
  return new Promise<LookupAddress[]>((resolve, reject) => {
    dnsLookup(hostname, options, (error, addresses) => (error ? reject(error) : resolve(addresses)));
  });
}
