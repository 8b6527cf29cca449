import { exactJson } from '../json/exact-json';
import { isObject, isShallow, isText, type JsonObject, textOf } from './json';

export interface StreamOutput {
  output_type: 'stream';
  name: 'stdout' | 'stderr';
  text: string;
}

export interface DataOutput {
  output_type: 'display_data' | 'execute_result';
  /** Values by media type: strings, or JSON values if the type is a JSON one, which may be marked (`exact-json.ts`). */
  data: JsonObject;
  metadata: JsonObject;
  /** Only an `execute_result` has one. */
  execution_count?: number | null;
}

export interface ErrorOutput {
  output_type: 'error';
  ename: string;
  evalue: string;
  traceback: string[];
}

/** An output of a cell in nbformat 4.5. Its texts are strings, never lists of lines. */
export type NbOutput = StreamOutput | DataOutput | ErrorOutput;

export const SHOWN_TYPES = ['text', 'html', 'image'] as const;
export type ShownType = (typeof SHOWN_TYPES)[number];

/** An output as the API shows it. */
export interface ShownOutput {
  type: ShownType;
  /** A text, or the data URL of an image. */
  Celloutput: string;
}

/** Base64 in notebooks; SVG is text. */
const BASE64_IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const SVG = 'image/svg+xml';
const TEXTS = ['text/plain', 'text/markdown', 'text/latex'];
const JSON_TYPE = /^application\/(?:[\w.+-]*\+)?json$/;

/* eslint-disable no-control-regex -- escape sequences of terminals begin with a control character */
const ANSI = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])/g;
/* eslint-enable no-control-regex */

/**
 * Reads an output of a kernel or a file, which may be any value, and returns null if it is malformed. It drops keys that nbformat
 * does not define, such as the `transient` of a message, because with one of them no reader accepts the file.
 */
export function readOutput(output: unknown): NbOutput | null {
  if (!isObject(output) || !isShallow(output)) return null;
  switch (output['output_type']) {
    case 'stream':
      return readStream(output);
    case 'display_data':
    case 'execute_result':
      return readData(output, output['output_type']);
    case 'error':
      return readError(output);
    default:
      return null;
  }
}

function readStream(output: JsonObject): StreamOutput | null {
  const text = textOf(output['text']);
  if (text === null) return null;
  return { output_type: 'stream', name: output['name'] === 'stderr' ? 'stderr' : 'stdout', text };
}

function readData(output: JsonObject, output_type: DataOutput['output_type']): DataOutput | null {
  const { data, metadata, execution_count: count } = output;
  if (!isObject(data)) return null;
  const texts: [string, unknown][] = [];
  for (const [type, value] of Object.entries(data)) {
    const content = JSON_TYPE.test(type) ? value : textOf(value);
    if (content !== null && content !== undefined) texts.push([type, content]);
  }
  const counted = output_type === 'execute_result' ? { execution_count: executionCount(count) } : {};
  return { output_type, data: Object.fromEntries(texts), metadata: isObject(metadata) ? metadata : {}, ...counted };
}

function readError(output: JsonObject): ErrorOutput {
  const { ename, evalue, traceback } = output;
  const lines = Array.isArray(traceback) ? traceback.filter(isText) : [];
  return { output_type: 'error', ename: stringOf(ename), evalue: stringOf(evalue), traceback: lines };
}

function stringOf(value: unknown): string {
  return isText(value) ? value : '';
}

/** Returns a valid execution count, or null. */
export function executionCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 31 ? value : null;
}

/** Returns an output as the API shows it. If it has several media types, images come before HTML, and HTML before text. */
export function shown(output: NbOutput): ShownOutput {
  switch (output.output_type) {
    case 'stream':
      return { type: 'text', Celloutput: output.text };
    case 'error':
      return { type: 'text', Celloutput: errorText(output) };
    case 'display_data':
    case 'execute_result':
      return shownData(output.data);
  }
}

function errorText({ ename, evalue, traceback }: ErrorOutput): string {
  const text = traceback.length > 0 ? traceback.join('\n') : `${ename}: ${evalue}`;
  return text.replaceAll(ANSI, '');
}

function shownData(data: JsonObject): ShownOutput {
  for (const type of BASE64_IMAGES) {
    const content = data[type];
    if (typeof content !== 'string') continue;
    return { type: 'image', Celloutput: `data:${type};base64,${content.replaceAll(/\s/g, '')}` };
  }
  const svg = data[SVG];
  if (typeof svg === 'string') {
    return { type: 'image', Celloutput: `data:${SVG};base64,${Buffer.from(svg).toString('base64')}` };
  }
  const html = data['text/html'];
  if (typeof html === 'string') return { type: 'html', Celloutput: html };
  for (const type of TEXTS) {
    const content = data[type];
    if (typeof content === 'string') return { type: 'text', Celloutput: content };
  }
  const [other] = Object.values(data);
  return {
    type: 'text',
    Celloutput: isText(other) ? other : other === undefined ? '' : exactJson(other),
  };
}

const DATA_URL = /^data:(image\/(?:png|jpeg|gif|webp|svg\+xml))((?:;[\w.-]+(?:=[\w.-]+)?)*),/i;

/** Converts an output that a client sent. Returns null for an image that is not a data URL of an image. */
export function fromShown({ type, Celloutput: content }: ShownOutput): NbOutput | null {
  switch (type) {
    case 'text':
      return { output_type: 'stream', name: 'stdout', text: content };
    case 'html':
      return displayed('text/html', content);
    case 'image':
      return fromDataUrl(content);
  }
}

function fromDataUrl(url: string): NbOutput | null {
  const [head, media = '', parameters = ''] = DATA_URL.exec(url.slice(0, 256)) ?? [];
  if (head === undefined) return null;
  const body = url.slice(head.length);
  const isBase64 = /;base64$/i.test(parameters);
  const type = media.toLowerCase();
  if (type !== SVG) return isBase64 && isBase64Text(body) ? displayed(type, body) : null;
  if (isBase64) return isBase64Text(body) ? displayed(SVG, Buffer.from(body, 'base64').toString()) : null;
  try {
    return displayed(SVG, decodeURIComponent(body));
  } catch {
    return null;
  }
}

function isBase64Text(text: string): boolean {
  return /^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(text);
}

function displayed(type: string, content: string): DataOutput {
  return { output_type: 'display_data', data: { [type]: content }, metadata: {} };
}

/** Joins consecutive outputs of the same stream. */
export function mergedStreams(outputs: readonly NbOutput[]): NbOutput[] {
  const merged: NbOutput[] = [];
  let texts: string[] = [];
  const end = () => {
    const last = merged.at(-1);
    if (last?.output_type === 'stream' && texts.length > 0) last.text = texts.join('');
    texts = [];
  };
  for (const output of outputs) {
    const last = merged.at(-1);
    if (output.output_type === 'stream' && last?.output_type === 'stream' && last.name === output.name) {
      texts.push(output.text);
      continue;
    }
    end();
    merged.push({ ...output });
    if (output.output_type === 'stream') texts = [output.text];
  }
  end();
  return merged;
}
