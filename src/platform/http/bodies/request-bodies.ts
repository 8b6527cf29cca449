import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { Injectable } from '@nestjs/common';
import { JSON_BOUNDS, type JsonBounds, type ParsedJson } from '../../../../libs/json/strict-json';
import { Config } from '../../../config/config';
import type { AuthenticatedRequest } from '../auth/request-principal';
import { DomainError, invalid } from '../../kernel/errors/domain-error';
import { internalKey, keysFromWire } from '../../kernel/product/product-name';
import { awaitClient } from '../connections/request-caller';
import { BodyMemory, type HeldBytes } from './body-memory';
import { JsonParser } from './json-parser';
import { LargeBodyTurns } from './large-body-turns';
import { unknownField, unusable } from '../../kernel/dto/problems';
import { bodyTooLarge, readBody } from './read-body';

/** Maximum JSON body of a public operation, bytes; a login needs a few hundred. */
export const UNKNOWN_CALLER_BYTES = 16 * 1024;

const INFLATE_STEP_BYTES = 64 * 1024;

const DECODERS: Readonly<Record<string, (bytes: Buffer, options: object) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/**
 * Reads bodies into memory, once the guards know the caller. Their bytes, time and structure are bounded, and the memory of
 * all together until the responses are sent.
 */
@Injectable()
export class RequestBodies {
  /** The limits are separate, so that neither users nor unauthenticated callers keep nodes from reporting. */
  private readonly memory: Readonly<Record<'unknown' | 'user' | 'node', BodyMemory>>;

  constructor(
    private readonly config: Config,
    private readonly parser: JsonParser,
    private readonly turns: LargeBodyTurns,
  ) {
    const { bodyMemoryBytes } = config.http;
    this.memory = {
      unknown: new BodyMemory(bodyMemoryBytes),
      user: new BodyMemory(bodyMemoryBytes),
      node: new BodyMemory(bodyMemoryBytes),
    };
  }

  /** Reads the body of a JSON operation, with the names that the code uses; undefined if there is none. */
  async json(request: AuthenticatedRequest): Promise<unknown> {
    const length = request.get('content-length');
    const isChunked = request.get('transfer-encoding') !== undefined;
    if (!isChunked && (length === undefined || Number(length) === 0)) return length === undefined ? undefined : {};
    assertJson(request);
    const maxBytes = this.maxJsonBytes(request);
    const held = this.hold(request);
    const received = await this.read(request, maxBytes, held);
    const bytes = await decoded(request, received, maxBytes, held);
    if (bytes.length === 0) return {};
    const bounds = {
      ...JSON_BOUNDS,
      values: request.operation?.document?.maxValues ?? JSON_BOUNDS.values,
      mendsTexts: request.caller?.kind === 'node',
    };
    return toInternalNames(valueOf(await this.parser.parse(bytes, bounds), bounds));
  }

  /** Reads a body of raw bytes, whose size the operation limits. */
  async bytes(request: AuthenticatedRequest): Promise<Buffer> {
    const maxBytes = request.operation?.maxBodyBytes;
    if (maxBytes === undefined) throw new Error('The operation declares no maxBodyBytes');
    return this.read(request, maxBytes, this.hold(request));
  }

  private read(request: AuthenticatedRequest, maxBytes: number, held: HeldBytes): Promise<Buffer> {
    const { bodyTimeoutMs } = this.config.http;
    const hold = (bytes: number) => held.add(bytes);
    const limits = { maxBytes, timeoutMs: bodyTimeoutMs, hold, turns: this.turns };
    return awaitClient(request, () => readBody(request, limits));
  }

  /** Reserves memory until the response is sent, because the parsed body is in use until then. */
  private hold(request: AuthenticatedRequest): HeldBytes {
    const { caller = { kind: 'unknown' as const, id: request.ip ?? '' } } = request;
    const held = this.memory[caller.kind].hold(String(caller.id));
    request.res?.once('close', () => held.release());
    return held;
  }

  private maxJsonBytes({ operation }: AuthenticatedRequest): number {
    const { maxJsonBytes, bodyMemoryBytes } = this.config.http;
    // No caller gets more than half of the memory.
    if (operation?.document) return Math.min(operation.document.maxBytes, bodyMemoryBytes / 2);
    const ofOperation = operation?.maxBodyBytes ?? (operation?.access.kind === 'public' ? UNKNOWN_CALLER_BYTES : null);
    return Math.min(maxJsonBytes, ofOperation ?? maxJsonBytes);
  }
}

/** Throws a 415 for a body of another type. Otherwise, its fields would seem to be missing. */
function assertJson(request: AuthenticatedRequest): void {
  if (request.is(['json', '+json']) === false) {
    throw unsupported('The body of this operation must be JSON: send it with Content-Type application/json.');
  }
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(request.get('content-type') ?? '')?.[1];
  if (charset !== undefined && charset.toLowerCase() !== 'utf-8') throw unsupported('The body must be UTF-8 JSON.');
}

async function decoded(
  request: AuthenticatedRequest,
  bytes: Buffer,
  maxBytes: number,
  held: HeldBytes,
): Promise<Buffer> {
  const encoding = (request.get('content-encoding') ?? 'identity').toLowerCase();
  if (encoding === 'identity' || bytes.length === 0) return bytes;
  const decoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
  if (!decoder) throw unsupported('The Content-Encoding of a body must be gzip, deflate or br.');
  held.add(maxBytes);
  try {
    const plain = await decoder(bytes, { maxOutputLength: maxBytes, chunkSize: INFLATE_STEP_BYTES });
    held.add(plain.length - maxBytes);
    return plain;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw bodyTooLarge(maxBytes);
    throw invalid('REQUEST.INVALID', `The body cannot be decoded with its Content-Encoding ${encoding}.`);
  }
}

function valueOf(parsed: ParsedJson, bounds: JsonBounds): object {
  if ('value' in parsed) return parsed.value;
  if ('unusable' in parsed) throw unusable(parsed.unusable);
  if ('fault' in parsed) throw invalid('REQUEST.MALFORMED_JSON', `The body is not valid JSON: ${parsed.fault}.`);
  switch (parsed.broken) {
    case 'levels':
      throw invalid('REQUEST.INVALID', `The request is nested deeper than ${bounds.levels} levels.`);
    case 'values':
      throw invalid('REQUEST.INVALID', `The body has more than ${bounds.values} values.`);
  }
}

/** Renames keys with the product's configured name to those with its internal name, and refuses the internal name. */
function toInternalNames(body: object): object {
  if (body instanceof Array) return body as unknown[];
  const fields = body as Record<string, unknown>;
  const internal = internalKey(fields);
  if (internal !== undefined) throw unknownField(internal);
  return keysFromWire(fields);
}

function unsupported(message: string): DomainError {
  return new DomainError('unsupported-media', 'REQUEST.UNSUPPORTED_MEDIA', message);
}
