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

const JUPYTER_PROTOCOL_VERSION = '5.3';
const MAX_ID_LENGTH = 128;
const MSG_ID = /^[\x21-\x7e]+$/;
/** The content of a longer reply is not stored. */
const MAX_REPLY_CHARACTERS = 64 * 1024;
/** More than an instance can have. A forged larger generation would make all later kernels look outdated. */
const MAX_GENERATIONS = 1_000_000;

/** The code of a request is one string, and other requests have few values. */
const REQUEST_JSON: UntrustedBounds = { bytes: MAX_PAYLOAD_BYTES, values: 10_000, levels: MAX_DEPTH };

/** Levels of a frame above the content of its message. */
const LEVELS_ABOVE = 2;
/**
 * Only two levels of the content of a message are parsed: its members and their members, such as data by media type. The data
 * itself is passed on unparsed.
 */
export const FRAME_JSON: OpaqueTextBounds = {
  bytes: MAX_PAYLOAD_BYTES,
  values: 50_000,
  levels: LEVELS_ABOVE + MAX_DEPTH,
  parsedLevels: LEVELS_ABOVE + 2,
};

/** The requests that clients may send, and the Jupyter channel of each. */
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

/** A message of the Jupyter protocol in the form used on WebSockets. */
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

/** A validated message of a client. */
export interface ClientRequest {
  msgId: string;
  type: RequestType;
  message: KernelMessage;
}

/**
 * Parses a text frame of a client: a Jupyter message, whose type and id may be only in its header. Returns null for a type that is
 * not supported, and throws a 400 for an invalid message.
 */
export function readClientMessage(text: string): ClientRequest | null {
  const message = parsed(text);
  if (!message) throw malformed('A message must be a JSON object.');
  const header = objectOf(message['header']) ?? {};
  const type = message['msg_type'] ?? header['msg_type'];
  const msgId = message['msg_id'] ?? header['msg_id'];
  if (typeof type !== 'string' || typeof msgId !== 'string')
    throw malformed('The fields msg_type and msg_id are required and must be strings.');
  if (!isMessageId(msgId)) {
    throw malformed(`The msg_id must have 1 to ${MAX_ID_LENGTH} visible ASCII characters.`);
  }
  if (!isRequestType(type)) return null;
  const received = objectOf(message['content']) ?? {};
  const content = type === 'execute_request' ? executeContent(received) : received;
  const metadata = objectOf(message['metadata']) ?? {};
  const sentHeader = { ...headerOf(type, msgId), session: textOf(header['session']) ?? '' };
  return {
    msgId,
    type,
    message: {
      header: sentHeader,
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

function executeContent(received: Json): Json {
  const { code, silent, store_history: storeHistory, user_expressions: expressions, stop_on_error: stops } = received;
  if (typeof code !== 'string') throw malformed('The code of an execute_request is required and must be a string.');
  return {
    code: withoutByteOrderMark(code),
    silent: silent === true,
    store_history: storeHistory !== false,
    user_expressions: objectOf(expressions) ?? {},
    // A kernel must not wait for input: a client that connects later could not answer.
    allow_stdin: false,
    stop_on_error: stops !== false,
  };
}

/** A frame from the bridge of a kernel. */
export type KernelFrame =
  | { op: 'kernel'; generation: number; state: StoredKernelState; reason: string | null }
  | { op: 'message'; generation: number; message: Json; type: string; parentId: string | null };

/**
 * Validates a frame. Its message must be serialized with `exactJson`. Returns null for an invalid frame: the job is not trusted
 * and can write any bytes.
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
 * Returns the id of the cell that a request executes. `msg_id` is that id, optionally followed by a colon and a suffix, so that a
 * cell can be executed again.
 */
export function cellOf(msgId: string): string {
  return msgId.split(':', 1)[0] ?? '';
}

/** Escapes that PostgreSQL rejects in JSON: NUL and halves of surrogate pairs. Also matches an escaped backslash, to skip it. */
const UNSTORABLE = /\\\\|\\u0000|\\ud[89a-f][0-9a-f]{2}/g;
const STORED_AS: Readonly<Record<string, string>> = { '\\\\': '\\\\', '\\u0000': '' };

/** Returns the content of a message without what PostgreSQL rejects; null if it is too long. */
export function keptReply(message: Json): Json | null {
  const text = exactJson(objectOf(message['content']) ?? {});
  if (text.length > MAX_REPLY_CHARACTERS) return null;
  return parsed(text.replaceAll(UNSTORABLE, (escape) => STORED_AS[escape] ?? '\ufffd'));
}

export function contentOf(message: Json): Json {
  return objectOf(message['content']) ?? {};
}

/** Returns the text of a message that the platform itself sends as the reply to a client's message. */
export function replyText(
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

/** Returns an `execute_reply` and the idle status after it, for a request that the kernel does not answer. */
export function repliesTo(msgId: string, reply: Json): string[] {
  const parent = { msgId, type: 'execute_request' };
  return [
    replyText(parent, 'execute_reply', reply, 'shell'),
    replyText(parent, 'status', { execution_state: 'idle' }, 'iopub'),
  ];
}

/** Returns the status message for clients after a change of the kernel's state. */
export function stateMessage(state: StoredKernelState): string {
  return replyText({ msgId: '', type: '' }, 'status', { execution_state: state }, 'iopub');
}

function headerOf(type: string, msgId: string): Json {
  const date = new Date().toISOString();
  return { msg_id: msgId, msg_type: type, username: '', session: '', date, version: JUPYTER_PROTOCOL_VERSION };
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
