import { MetastoreError } from '../metastore-client';
import type { GssContext, GssIdentity } from '../kerberos/gss-identity';

/** Protects messages after a login has agreed on it. Calls are made one at a time. */
export interface SaslLayer {
  wrap(message: Buffer): Promise<Buffer>;
  unwrap(message: Buffer): Promise<Buffer>;
}

/** The client's side of one login. */
export interface SaslMechanism {
  readonly name: string;
  /** True if the client has sent all its messages, and has authenticated the server if the mechanism can. */
  readonly complete: boolean;
  /** Null if messages are sent as they are. */
  readonly layer: SaslLayer | null;
  /** Removed from error messages, even if the server quotes them. */
  readonly secrets: readonly string[];
  start(signal: AbortSignal): Promise<Buffer>;
  respond(challenge: Buffer, signal: AbortSignal): Promise<Buffer>;
  /** Releases the resources of the login and its layer. */
  end(): void;
}

/** RFC 4616. Sends the password in plain text; {@link HiveAuthentication} has refused null characters. */
export class PlainMechanism implements SaslMechanism {
  readonly name = 'PLAIN';
  readonly layer = null;
  complete = false;

  readonly secrets: readonly string[];

  constructor(private readonly login: { username: string; password: string }) {
    this.secrets = [login.password];
  }

  start(): Promise<Buffer> {
    const { username, password } = this.login;
    this.complete = true;
    return Promise.resolve(Buffer.from(`\0${username}\0${password}`));
  }

  respond(): Promise<Buffer> {
    return Promise.reject(new MetastoreError('failed', 'The metastore requires more than a user name and password.'));
  }

  end(): void {
    // Nothing to release.
  }
}

/** Bits of the layers that a server offers (RFC 4752). */
const [NONE, INTEGRITY, CONFIDENTIALITY] = [1, 2, 4];
/** Maximum size of a message from the server: the largest number of three bytes. */
const MAX_MESSAGE_BYTES = 0xff_ffff;

/** RFC 4752. Authenticates the server, too, and uses the strongest layer that it offers. */
export class GssapiMechanism implements SaslMechanism {
  readonly name = 'GSSAPI';
  readonly secrets = [];
  layer: SaslLayer | null = null;
  complete = false;
  private context: GssContext | null = null;
  private established = false;
  private hasEnded = false;

  constructor(
    private readonly identity: GssIdentity,
    private readonly service: string,
  ) {}

  async start(signal: AbortSignal): Promise<Buffer> {
    const { context, token, complete } = await this.identity.begin(this.service, signal);
    this.context = context;
    this.established = complete;
    // `end` was called meanwhile.
    if (this.hasEnded) context.end();
    return token;
  }

  async respond(challenge: Buffer, signal: AbortSignal): Promise<Buffer> {
    const { context } = this;
    if (!context || this.complete)
      throw new MetastoreError('failed', 'The metastore continues a login that is already complete.');
    if (!this.established) {
      const { token, complete } = await context.continue(challenge, signal);
      this.established = complete;
      return token;
    }
    const offer = await context.unwrap(challenge, signal);
    const offered = offer[0] ?? 0;
    const chosen = [CONFIDENTIALITY, INTEGRITY, NONE].find((layer) => (offered & layer) !== 0);
    if (offer.length !== 4 || chosen === undefined) {
      throw new MetastoreError('failed', 'The metastore offers no supported protection of messages after the login.');
    }
    const answer = Buffer.alloc(4);
    answer.writeUInt32BE(((chosen << 24) | (chosen === NONE ? 0 : MAX_MESSAGE_BYTES)) >>> 0);
    const response = await context.wrap(answer, false, signal);
    this.complete = true;
    if (chosen === NONE) this.end();
    else this.layer = layerOf(context, chosen === CONFIDENTIALITY);
    return response;
  }

  end(): void {
    this.hasEnded = true;
    this.context?.end();
  }
}

/** Timeout to wrap or unwrap one message. */
const LAYER_TIMEOUT_MS = 30_000;

function layerOf(context: GssContext, confidential: boolean): SaslLayer {
  return {
    wrap: (message) => context.wrap(message, confidential, AbortSignal.timeout(LAYER_TIMEOUT_MS)),
    unwrap: (message) => context.unwrap(message, AbortSignal.timeout(LAYER_TIMEOUT_MS)),
  };
}
