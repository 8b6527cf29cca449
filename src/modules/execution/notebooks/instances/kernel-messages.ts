import { randomUUID } from 'node:crypto';
import { MAX_PAYLOAD_BYTES } from '../../../../../libs/contracts/channel-records';
import { singleLine } from '../../../../../libs/contracts/single-line';
import { exactJson } from '../../../../../libs/json/exact-json';
import type { OpaqueTextBounds } from '../../../../../libs/json/opaque-json';
import { readUntrusted, type UntrustedBounds } from '../../../../../libs/json/parse-json';
import { MAX_DEPTH } from '../../../../../libs/notebooks/json';
import { withoutByteOrderMark } from '../../../../../libs/json/byte-order-mark';
import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { STORED_KERNEL_STATES, type StoredKernelState } from './kernel-state';

/** Version of Jupyter's message protocol. */
const PROTOCOL = '5.3';
const MAX_ID_LENGTH = 128;
const MSG_ID = /^[\x21-\x7e]+$/;
/** Content of a longer reply is not kept; characters. */
const MAX_REPLY_BYTES = 64 * 1024;
/** More kernels than an instance can have had; what says otherwise would stop all that follow. */
const MAX_GENERATIONS = 1_000_000;

/** Code is one string, and other requests of clients have a handful of values. */
const REQUEST_JSON: UntrustedBounds = { bytes: MAX_PAYLOAD_BYTES, values: 10_000, levels: MAX_DEPTH };

/** How many levels of a frame are above the content of its message. */
const LEVELS_ABOVE = 2;
/**
 * Only two levels of the content of a message are parsed: its members, and their members, such as data by media type. What is
 * inside the data, however much, is only passed on.
 */
export const FRAME_JSON: OpaqueTextBounds = {
  bytes: MAX_PAYLOAD_BYTES,
  values: 50_000,
  levels: LEVELS_ABOVE + MAX_DEPTH,
  parsedLevels: LEVELS_ABOVE + 2,
};

/** What clients may ask a kernel, and by which of its channels. */
const REQUEST_TYPES = {
  execute_request: 'shell',
  complete_request: 'shell',
  inspect_request: 'shell',
  is_complete_request: 'shell',
  kernel_info_request: 'shell',
  comm_info_request: 'shell',
  history_request: 'shell',
  interrupt_request: 'control',
} as const;
type RequestType = keyof typeof REQUEST_TYPES;

type Json = Record<string, unknown>;

/** A message of Jupyter's protocol, in the form of its WebSockets. */
export interface KernelMessage {
  header: Json;
  msg_id: string;
  msg_type: string;
  parent_header: Json;
  metadata: Json;
  content: Json;
  buffers: [];
  channel: string;
}

/** A checked message of a client. */
export interface ClientRequest {
  msgId: string;
  type: RequestType;
  message: KernelMessage;
}

/**
 * Reads a text frame of a client: a Jupyter message, whose type and id may be in its header alone. Null for one of a type
 * that kernels are not asked here. 400 for anything else.
 */
export function readClientMessage(text: string): ClientRequest | null {
  const message = parsed(text);
  if (!message) throw malformed('A message must be a JSON object.');
  const header = objectOf(message['header']) ?? {};
  const type = message['msg_type'] ?? header['msg_type'];
  const msgId = message['msg_id'] ?? header['msg_id'];
  if (typeof type !== 'string' || typeof msgId !== 'string') throw malformed('A message needs msg_type and msg_id.');
  if (!isMessageId(msgId)) {
    throw malformed(`A msg_id must have 1 to ${MAX_ID_LENGTH} visible ASCII characters.`);
  }
  if (!isRequestType(type)) return null;
  const given = objectOf(message['content']) ?? {};
  const content = type === 'execute_request' ? executeContent(given) : given;
  const metadata = objectOf(message['metadata']) ?? {};
  const asked = { ...headerOf(type, msgId), session: textOf(header['session']) ?? '' };
  return {
    msgId,
    type,
    message: {
      header: asked,
      msg_id: msgId,
      msg_type: type,
      parent_header: {},
      metadata,
      content,
      buffers: [],
      channel: REQUEST_TYPES[type],
    },
  };
}

function executeContent(given: Json): Json {
  const { code, silent, store_history: storeHistory, user_expressions: expressions, stop_on_error: stops } = given;
  if (typeof code !== 'string') throw malformed('An execute_request needs code, which must be a string.');
  return {
    code: withoutByteOrderMark(code),
    silent: silent === true,
    store_history: storeHistory !== false,
    user_expressions: objectOf(expressions) ?? {},
    // Nobody is asked: whoever sees the notebook later has no way to answer.
    allow_stdin: false,
    stop_on_error: stops !== false,
  };
}

/** What the bridge beside a kernel says. */
export type KernelFrame =
  | { op: 'kernel'; generation: number; state: StoredKernelState; reason: string | null }
  | { op: 'message'; generation: number; message: Json; type: string; parentId: string | null };

/**
 * Reads a frame. Its message must be written with `exactJson`. Null for a frame that no bridge writes, since a job can write
 * whatever it likes.
 * @param parsed a value that was parsed within {@link FRAME_JSON}
 */
export function kernelFrame(parsed: unknown): KernelFrame | null {
  const frame = objectOf(parsed);
  const generation = frame?.['generation'];
  if (!frame || typeof generation !== 'number' || !Number.isInteger(generation)) return null;
  if (generation < 1 || generation > MAX_GENERATIONS) return null;
  if (frame['op'] === 'kernel') return readState(frame, generation);
  return frame['op'] === 'message' ? readMessage(frame, generation) : null;
}

function readState(frame: Json, generation: number): KernelFrame | null {
  const state = STORED_KERNEL_STATES.find((known) => known === frame['state']);
  const reason = textOf(frame['reason']);
  if (state === undefined) return null;
  return { op: 'kernel', generation, state, reason: reason === null ? null : singleLine(reason) };
}

function readMessage(frame: Json, generation: number): KernelFrame | null {
  const message = objectOf(frame['message']);
  const type = textOf(message?.['msg_type']) ?? textOf(objectOf(message?.['header'])?.['msg_type']);
  if (!message || type === null) return null;
  const parent = textOf(objectOf(message['parent_header'])?.['msg_id']);
  return { op: 'message', generation, message, type, parentId: parent !== null && isMessageId(parent) ? parent : null };
}

/**
 * The cell that a request means: `msg_id` is its id, perhaps with a colon and more behind it, by which a cell is executed
 * again.
 */
export function cellOf(msgId: string): string {
  return msgId.split(':', 1)[0] ?? '';
}

/** What PostgreSQL keeps in no JSON, as it is written: NUL and halves of surrogate pairs. Or a backslash, which begins neither. */
const UNSTORABLE = /\\\\|\\u0000|\\ud[89a-f][0-9a-f]{2}/g;
const STORED_AS: Readonly<Record<string, string>> = { '\\\\': '\\\\', '\\u0000': '' };

/** Content of a message, with nothing that PostgreSQL could not keep; null when it is too long. */
export function keptReply(message: Json): Json | null {
  const text = exactJson(objectOf(message['content']) ?? {});
  if (text.length > MAX_REPLY_BYTES) return null;
  return parsed(text.replaceAll(UNSTORABLE, (escape) => STORED_AS[escape] ?? '\ufffd'));
}

/** The content of a message, an empty object where it has none. */
export function contentOf(message: Json): Json {
  return objectOf(message['content']) ?? {};
}

/** A message that the platform itself sends to a client, as the answer to one of its messages. */
export function answerTo(
  parent: { msgId: string; type: string },
  type: string,
  content: Json,
  channel: string,
): string {
  const header = headerOf(type, randomUUID());
  const message: KernelMessage = {
    header,
    msg_id: String(header['msg_id']),
    msg_type: type,
    parent_header: { msg_id: parent.msgId, msg_type: parent.type },
    metadata: {},
    content,
    buffers: [],
    channel,
  };
  return JSON.stringify(message);
}

/** An `execute_reply` and the status behind it, for a request that no kernel answers. */
export function repliesTo(msgId: string, reply: Json): string[] {
  const parent = { msgId, type: 'execute_request' };
  return [
    answerTo(parent, 'execute_reply', reply, 'shell'),
    answerTo(parent, 'status', { execution_state: 'idle' }, 'iopub'),
  ];
}

/** What a kernel's change of state is to a client. */
export function stateMessage(state: StoredKernelState): string {
  return answerTo({ msgId: '', type: '' }, 'status', { execution_state: state }, 'iopub');
}

function headerOf(type: string, msgId: string): Json {
  const date = new Date().toISOString();
  return { msg_id: msgId, msg_type: type, username: '', session: '', date, version: PROTOCOL };
}

function malformed(message: string): Error {
  return invalid('KERNEL.MALFORMED_MESSAGE', message);
}

function isMessageId(id: string): boolean {
  return id.length <= MAX_ID_LENGTH && MSG_ID.test(id);
}

function isRequestType(type: string): type is RequestType {
  return Object.hasOwn(REQUEST_TYPES, type);
}

function parsed(text: string): Json | null {
  return objectOf(readUntrusted(text, REQUEST_JSON));
}

function objectOf(value: unknown): Json | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
