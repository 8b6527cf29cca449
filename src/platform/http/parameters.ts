import { Body, createParamDecorator, type ExecutionContext, Param } from '@nestjs/common';
import { ApiBody, ApiParam } from '@nestjs/swagger';
import type { Request } from 'express';
import { invalid } from '../kernel/errors/domain-error';

/** An int64 id in the path, read from the request itself: the validation pipe would make a number of `1e3` first. */
export function IdParam(name: string): ParameterDecorator {
  const decorate = createParamDecorator((_: unknown, context: ExecutionContext): number => {
    const value: unknown = context.switchToHttp().getRequest<Request>().params[name];
    if (typeof value !== 'string' || !/^\d{1,15}$/.test(value)) {
      throw invalid('REQUEST.INVALID', `${name} in the path must be an integer.`);
    }
    return Number(value);
  });
  return (target, key, index) => {
    decorate()(target, key, index);
    documentId(name, target, key);
  };
}

/** Documents an id in the path that the handler receives in another form. */
export function documentId(name: string, target: object, key: string | symbol | undefined): void {
  document(name, { type: 'integer', format: 'int64' }, target, key);
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A UUID in the path. */
export function UuidParam(name: string): ParameterDecorator {
  const pipe = {
    transform: (value: unknown): string => {
      if (typeof value !== 'string' || !UUID.test(value))
        throw invalid('REQUEST.INVALID', `${name} in the path must be a UUID.`);
      return value.toLowerCase();
    },
  };
  return (target, key, index) => {
    Param(name, pipe)(target, key, index);
    document(name, { type: 'string', format: 'uuid' }, target, key);
  };
}

const LONGEST_TEXT = 256;

/** A name in the path, of at most 256 characters. */
export function TextParam(name: string): ParameterDecorator {
  const pipe = {
    transform: (value: unknown): string => {
      if (typeof value !== 'string' || value.trim() === '' || value.length > LONGEST_TEXT)
        throw invalid('REQUEST.INVALID', `${name} in the path must have 1 to ${LONGEST_TEXT} characters.`);
      return value;
    },
  };
  return (target, key, index) => {
    Param(name, pipe)(target, key, index);
    document(name, { type: 'string', minLength: 1, maxLength: LONGEST_TEXT }, target, key);
  };
}

/** One of the listed words in the path. */
export function WordParam(name: string, words: readonly string[]): ParameterDecorator {
  const pipe = {
    transform: (value: unknown): string => {
      const found = words.find((word) => word === value);
      if (found === undefined)
        throw invalid('REQUEST.INVALID', `${name} in the path must be one of ${words.join(', ')}.`);
      return found;
    },
  };
  return (target, key, index) => {
    Param(name, pipe)(target, key, index);
    document(name, { type: 'string', enum: [...words] }, target, key);
  };
}

function document(name: string, schema: object, target: object, key: string | symbol | undefined): void {
  if (key === undefined) return;
  const descriptor = Object.getOwnPropertyDescriptor(target, key);
  if (descriptor) ApiParam({ name, required: true, schema })(target, key, descriptor);
}

/** A body that is a list of texts and nothing else. */
export function TextsBody({
  maxItems,
  maxItemLength,
  example,
}: {
  maxItems: number;
  maxItemLength: number;
  example: string[];
}): ParameterDecorator {
  const isText = (item: unknown) => typeof item === 'string' && item !== '' && item.length <= maxItemLength;
  const pipe = {
    transform: (value: unknown): unknown => {
      if (Array.isArray(value) && value.length <= maxItems && value.every(isText)) return value;
      const meaning = `a list of at most ${maxItems} texts, each of 1 to ${maxItemLength} characters`;
      throw invalid('REQUEST.INVALID', `The request is not valid: it must be ${meaning}.`);
    },
  };
  return (target, key, index) => {
    Body(pipe)(target, key, index);
    const items = { type: 'string', minLength: 1, maxLength: maxItemLength };
    const descriptor = key === undefined ? undefined : Object.getOwnPropertyDescriptor(target, key);
    if (!descriptor || key === undefined) return;
    ApiBody({ required: true, schema: { type: 'array', maxItems, items, example } })(target, key, descriptor);
  };
}
