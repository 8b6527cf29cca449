import { Readable, Transform } from 'node:stream';
import { EC2Client } from '@aws-sdk/client-ec2';
import type { OutboundAgents } from '../../outbound-policy/outbound-policy';
import { ComputeDriverError, type DriverContext } from '../compute-driver';
import { readPages, untilAborted } from '../machines/calls';
import { unexpectedResponse } from '../call-faults';
import { faultOf } from './aws-faults';

/** A page of a thousand machines with fifty tags each has some five. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/** By then the root of an answer has begun. */
const HEAD_BYTES = 512;
const ROOT = /^\s*(<\?xml[^>]*\?>\s*)?<\w*Response[\s>]/;

/** Pages of a thousand: whoever has more of them does not end. */
const MAX_PAGES = 100;
const MAX_FOUND = MAX_PAGES * 1000;

/** It becomes a part of a host name. */
const REGION = /^[a-z]{2,8}(-[a-z0-9]{1,16}){1,4}$/;

interface ConnectionOptions {
  /** Null for that of the credentials. */
  region: string | null;
  endpoint: string | null;
  agents: OutboundAgents;
  /** What must not be repeated besides the keys. */
  secrets: readonly string[];
}

/** EC2 of one region for the length of one call of a driver. */
export class AwsConnection {
  private readonly client: EC2Client;
  private readonly host: string;
  private readonly secrets: readonly string[];
  private readonly signal: AbortSignal;

  constructor({ credentials, signal }: Pick<DriverContext, 'credentials' | 'signal'>, options: ConnectionOptions) {
    const { endpoint, agents, secrets } = options;
    const [accessKeyId, secretAccessKey] = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'].map(
      (name) => credentials[name] ?? '',
    ) as [string, string];
    const region = options.region ?? credentials['AWS_DEFAULT_REGION'] ?? '';
    if (!REGION.test(region))
      throw new ComputeDriverError('InvalidRegion', 'Neither the zone nor the credentials name a region of AWS.', {
        kind: 'invalid',
      });
    if (!/^[\x21-\x7e]{1,256}$/.test(accessKeyId) || secretAccessKey === '')
      throw new ComputeDriverError('InvalidKeys', 'The credentials have no key pair of AWS.', { kind: 'denied' });
    this.signal = signal;
    this.secrets = [secretAccessKey, ...secrets];
    this.host = endpoint === null ? `EC2 in the region ${region}` : new URL(endpoint).host;
    // Never destroyed: that would end the connections of the agents, which are shared.
    this.client = new EC2Client({
      region,
      credentials: { accessKeyId, secretAccessKey },
      ...(endpoint === null ? {} : { endpoint }),
      // The SDK would take a lack of capacity for a server in trouble.
      maxAttempts: 1,
      requestHandler: { httpAgent: agents.http, httpsAgent: agents.https },
    });
    this.client.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args);
        const response = result.response as { body?: unknown; statusCode?: number };
        const isDone = (response.statusCode ?? 0) < 300;
        if (response.body instanceof Readable) response.body = checkedBody(response.body, isDone ? this.host : null);
        return result;
      },
      { step: 'deserialize', priority: 'low', name: 'boundedAnswer' },
    );
  }

  /** One call; it ends with the signal, whatever the SDK does then. */
  async call<T>(make: (client: EC2Client, options: { abortSignal: AbortSignal }) => Promise<T>): Promise<T> {
    try {
      return await untilAborted(this.signal, () => make(this.client, { abortSignal: this.signal }));
    } catch (error) {
      throw faultOf(error, this.host, this.signal, this.secrets);
    }
  }

  /** Everything that a listing has, page by page. */
  listAll<T extends { NextToken?: string | undefined }, I>(
    make: (
      client: EC2Client,
      page: { NextToken?: string | undefined },
      options: { abortSignal: AbortSignal },
    ) => Promise<T>,
    itemsOf: (answer: T) => readonly I[] | undefined,
  ): Promise<I[]> {
    const words = `has more than ${MAX_FOUND} things of what was asked for, or lists them without an end`;
    return readPages(
      { pages: MAX_PAGES, items: MAX_FOUND, exceeded: () => unexpectedResponse(this.host, words) },
      async (NextToken) => {
        const answer = await this.call((client, options) => make(client, NextToken ? { NextToken } : {}, options));
        return { items: itemsOf(answer) ?? [], next: answer.NextToken };
      },
      (item) => item,
    );
  }
}

/**
 * Of an answer that says that a call was done, also its root: a page of something else would be read as a listing without
 * machines.
 * @param host who must have answered like EC2; null where the error that it is tells enough
 */
function checkedBody(source: Readable, host: string | null): Readable {
  let length = 0;
  let head: Buffer | null = host === null ? null : Buffer.alloc(0);
  const strange = () => unexpectedResponse(host ?? '', 'does not answer like EC2');
  const limit = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      length += chunk.length;
      if (length > MAX_ANSWER_BYTES) return done(new Error('The answer is too long'));
      if (head === null) return done(null, chunk);
      head = Buffer.concat([head, chunk]);
      if (head.length < HEAD_BYTES) return done();
      const whole = head;
      head = null;
      return ROOT.test(whole.toString('latin1')) ? done(null, whole) : done(strange());
    },
    flush(done) {
      if (head === null) return done();
      return ROOT.test(head.toString('latin1')) ? done(null, head) : done(strange());
    },
  });
  source.on('error', (error) => limit.destroy(error));
  limit.on('close', () => source.destroy());
  return source.pipe(limit);
}
