import { createParamDecorator, type ExecutionContext, Param } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import type { Request } from 'express';
import { invalid } from '../errors/domain-error';

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
    document(name, { type: 'integer', format: 'int64' }, target, key);
  };
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
