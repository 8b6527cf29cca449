import { Readable, Transform } from 'node:stream';
import { EC2Client } from '@aws-sdk/client-ec2';
import type { OutboundAgents } from '../../outbound-policy/outbound-policy';
import { ComputeDriverError, type DriverContext } from '../compute-driver';
import { readPages, untilAborted } from '../machines/calls';
import { unexpectedResponse } from '../call-faults';
import { faultOf } from './aws-faults';

/** A page of a thousand machines with fifty tags each has about five MiB. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

/** The first bytes of a response, which contain its root element. */
const HEAD_BYTES = 512;
const ROOT = /^\s*(<\?xml[^>]*\?>\s*)?<\w*Response[\s>]/;

/** Pages of a thousand; a longer list is taken for endless. */
const MAX_PAGES = 100;
const MAX_FOUND = MAX_PAGES * 1000;

/** The region becomes a part of a host name. */
const REGION = /^[a-z]{2,8}(-[a-z0-9]{1,16}){1,4}$/;

interface ConnectionOptions {
  /** Null for the region of the credentials. */
  region: string | null;
  endpoint: string | null;
  agents: OutboundAgents;
  /** Values that no error may contain, besides the keys. */
  secrets: readonly string[];
}

/** Connection to EC2 in one region for one call of a driver. */
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
      throw new ComputeDriverError(
        'InvalidRegion',
        'Neither the zone of the cluster nor AWS_DEFAULT_REGION of the credentials names an AWS region.',
        {
          kind: 'invalid',
        },
      );
    if (!/^[\x21-\x7e]{1,256}$/.test(accessKeyId) || secretAccessKey === '')
      throw new ComputeDriverError(
        'InvalidKeys',
        'The credentials have no valid AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
        { kind: 'denied' },
      );
    this.signal = signal;
    this.secrets = [secretAccessKey, ...secrets];
    this.host = endpoint === null ? `EC2 in the region ${region}` : new URL(endpoint).host;
    // The client is never destroyed, because that would close the connections of the shared agents.
    this.client = new EC2Client({
      region,
      credentials: { accessKeyId, secretAccessKey },
      ...(endpoint === null ? {} : { endpoint }),
      // The SDK would retry a lack of capacity like a server error.
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

  /** Makes one call, which rejects as soon as the signal aborts. */
  async call<T>(make: (client: EC2Client, options: { abortSignal: AbortSignal }) => Promise<T>): Promise<T> {
    try {
      return await untilAborted(this.signal, () => make(this.client, { abortSignal: this.signal }));
    } catch (error) {
      throw faultOf(error, this.host, this.signal, this.secrets);
    }
  }

  /** Returns the items of all pages of a list. */
  listAll<T extends { NextToken?: string | undefined }, I>(
    make: (
      client: EC2Client,
      page: { NextToken?: string | undefined },
      options: { abortSignal: AbortSignal },
    ) => Promise<T>,
    itemsOf: (response: T) => readonly I[] | undefined,
  ): Promise<I[]> {
    const problem = `lists more than ${MAX_FOUND} resources, or never ends the list`;
    return readPages(
      { pages: MAX_PAGES, items: MAX_FOUND, exceeded: () => unexpectedResponse(this.host, problem) },
      async (NextToken) => {
        const response = await this.call((client, options) => make(client, NextToken ? { NextToken } : {}, options));
        return { items: itemsOf(response) ?? [], next: response.NextToken };
      },
      (item) => item,
    );
  }
}

/**
 * Limits the size of a response, and checks the root element of a successful one: another server's page would be read as a
 * list without machines.
 * @param host server named in the error; null for an error response, whose root is not checked
 */
function checkedBody(source: Readable, host: string | null): Readable {
  let length = 0;
  let head: Buffer | null = host === null ? null : Buffer.alloc(0);
  const strange = () => unexpectedResponse(host ?? '', 'sent a response that is not from EC2');
  const limit = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      length += chunk.length;
      if (length > MAX_RESPONSE_BYTES) return done(new Error('The response is too long'));
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
