import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenAPIObject } from '@nestjs/swagger';
import { parseTrusted } from '../../../libs/json/parse-json';
import { keyToWire, textToWire, toWire } from '../kernel/product/product-name';
import { type ErrorStatus, errorText, sharedErrorName, sharedErrorResponses } from './error-responses';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

interface Media {
  example?: Json;
  examples?: Record<string, { $ref: string }>;
}

interface Answer {
  description?: string;
  content?: Record<string, Media>;
}

interface Answering {
  operationId?: string;
  responses?: Record<string, Answer>;
}

/** The errors that tests received: a body of each code, and the codes of each operation by status. */
interface RecordedErrors {
  bodies: Readonly<Record<string, Json>>;
  operations: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
}

/** Returns the recorded successful answers by operation id. `npm run examples:record` writes both files. */
export function answerExamples(): Readonly<Record<string, Json>> {
  return recorded('recorded-answers.json');
}

export function errorExamples(): RecordedErrors {
  return recorded('recorded-errors.json');
}

function recorded<T>(name: string): T {
  return parseTrusted(readFileSync(join(__dirname, name), 'utf8'));
}

/**
 * Shows in the document what operations answered when they were recorded: a success as the example of its response, and each
 * error code of the operation with its status and an example.
 */
export function showAnswers(document: OpenAPIObject): void {
  const successes = answerExamples();
  const { bodies, operations } = errorExamples();
  for (const { operationId = '', responses = {} } of operationsOf(document)) {
    const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
    const json = success?.content?.['application/json'];
    const example = successes[operationId];
    if (json && example !== undefined) json.example = answerToWire(example);
    for (const [status, codes] of Object.entries(operations[operationId] ?? {})) showCodes(responses, status, codes);
  }
  const examples = Object.entries(bodies).map(([code, body]): [string, { value: Json }] => [
    code,
    { value: answerToWire(body) },
  ]);
  document.components = { ...document.components, examples: Object.fromEntries(examples) };
}

function operationsOf(document: OpenAPIObject): Answering[] {
  return Object.values(document.paths).flatMap((item) => Object.values(item as object) as Answering[]);
}

/** Adds the codes to the response of their status, or to that of all other errors if the operation documents no such status. */
function showCodes(responses: Record<string, Answer>, status: string, codes: readonly string[]): void {
  const key = status in responses ? status : 'default';
  const media = responses[key]?.content?.['application/json'];
  const shared = sharedErrorResponses()[sharedErrorName(key)];
  if (!media || !shared) return;
  const shown = { ...media.examples, ...Object.fromEntries(codes.map((code) => [code, exampleReference(code)])) };
  const listed = Object.keys(shown).map((code) => `\`${code}\``);
  responses[key] = {
    ...shared,
    description: `${errorText(key as ErrorStatus).replace(/\.$/, '')}. Codes: ${listed.join(', ')}`,
    content: { 'application/json': { ...media, examples: shown } },
  };
}

function exampleReference(code: string): { $ref: string } {
  return { $ref: `#/components/examples/${code}` };
}

/** Gives the values and keys of an answer the product's configured name. */
function answerToWire(answer: Json): Json {
  if (typeof answer === 'string') return answer.includes(' ') ? textToWire(answer) : keyToWire(toWire(answer));
  if (Array.isArray(answer)) return answer.map(answerToWire);
  if (answer === null || typeof answer !== 'object') return answer;
  return Object.fromEntries(Object.entries(answer).map(([key, value]) => [keyToWire(key), answerToWire(value)]));
}
