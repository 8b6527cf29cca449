import { MetastoreError } from '../metastore-client';
import type { GssContext, GssIdentity } from '../kerberos/gss-identity';

/** What messages are packed in once a login has agreed on it. Calls come one after the other. */
export interface SaslLayer {
  wrap(message: Buffer): Promise<Buffer>;
  unwrap(message: Buffer): Promise<Buffer>;
}

/** The client's side of one login. */
export interface SaslMechanism {
  readonly name: string;
  /** Whether it has said all that it has to say, and knows the server if it can. */
  readonly complete: boolean;
  /** Null where messages go as they are. */
  readonly layer: SaslLayer | null;
  /** What no message repeats, even if the server does. */
  readonly secrets: readonly string[];
  start(signal: AbortSignal): Promise<Buffer>;
  answer(challenge: Buffer, signal: AbortSignal): Promise<Buffer>;
  /** Gives back what it holds, its layer too. */
  end(): void;
}

/** RFC 4616. The password goes over the connection as it is; {@link HiveAuthentication} has looked for null characters. */
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

  answer(): Promise<Buffer> {
    return Promise.reject(new MetastoreError('failed', 'The metastore asks for more than a user name and password.'));
  }

  end(): void {
    // There is nothing to give back.
  }
}

/** Bits of the layers that a server offers, in RFC 4752. */
const [NONE, INTEGRITY, CONFIDENTIALITY] = [1, 2, 4];
/** Longest message that the server may send, bytes, as three bytes tell it. */
const LONGEST = 0xff_ffff;

/** RFC 4752. The server proves who it is, too; of the layers that it offers the strongest is used. */
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
    // Ended meanwhile.
    if (this.hasEnded) context.end();
    return token;
  }

  async answer(challenge: Buffer, signal: AbortSignal): Promise<Buffer> {
    const { context } = this;
    if (!context || this.complete) throw new MetastoreError('failed', 'The metastore goes on with a finished login.');
    if (!this.established) {
      const { token, complete } = await context.continue(challenge, signal);
      this.established = complete;
      return token;
    }
    const offer = await context.unwrap(challenge, signal);
    const offered = offer[0] ?? 0;
    const chosen = [CONFIDENTIALITY, INTEGRITY, NONE].find((layer) => (offered & layer) !== 0);
    if (offer.length !== 4 || chosen === undefined) {
      throw new MetastoreError('failed', 'The metastore offers no way to send messages after the login.');
    }
    const answer = Buffer.alloc(4);
    answer.writeUInt32BE(((chosen << 24) | (chosen === NONE ? 0 : LONGEST)) >>> 0);
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

/** As long as one message may take to be packed, milliseconds. */
const LAYER_MS = 30_000;

function layerOf(context: GssContext, confidential: boolean): SaslLayer {
  return {
    wrap: (message) => context.wrap(message, confidential, AbortSignal.timeout(LAYER_MS)),
    unwrap: (message) => context.unwrap(message, AbortSignal.timeout(LAYER_MS)),
  };
}
