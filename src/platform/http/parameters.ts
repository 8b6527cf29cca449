import { Body, createParamDecorator, type ExecutionContext, Param, Query, type Type } from '@nestjs/common';
import { ApiBody, ApiParam } from '@nestjs/swagger';
import type { Request } from 'express';
import { meaningOf } from '../kernel/dto/field-meanings';
import { invalid } from '../kernel/errors/domain-error';

/** An int64 id in the path. It is read from the request, because the validation pipe would first convert `1e3` to a number. */
export function IdParam(name: string, description?: string): ParameterDecorator {
  const decorate = createParamDecorator((_: unknown, context: ExecutionContext): number => {
    const value: unknown = context.switchToHttp().getRequest<Request>().params[name];
    if (typeof value !== 'string' || !/^\d{1,15}$/.test(value)) {
      throw invalid('REQUEST.INVALID', `${name} in the path must be an integer.`);
    }
    return Number(value);
  });
  return (target, key, index) => {
    decorate()(target, key, index);
    documentId(name, target, key, description);
  };
}

/** Documents an id in the path that the handler receives in another way. */
export function documentId(name: string, target: object, key: string | symbol | undefined, description?: string): void {
  document({ name, schema: { type: 'integer', format: 'int64' }, description }, target, key);
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A UUID in the path. */
export function UuidParam(name: string, description?: string): ParameterDecorator {
  const read = (text: string) => (UUID.test(text) ? text.toLowerCase() : undefined);
  return pathText({ name, schema: { type: 'string', format: 'uuid' }, description }, { read, rule: 'be a UUID' });
}

const MAX_TEXT = 256;

/** A name in the path, of at most 256 characters. */
export function TextParam(name: string, description?: string): ParameterDecorator {
  const read = (text: string) => (text.trim() === '' || text.length > MAX_TEXT ? undefined : text);
  const rule = `have 1 to ${MAX_TEXT} characters`;
  const schema = { type: 'string', minLength: 1, maxLength: MAX_TEXT };
  return pathText({ name, schema, description }, { read, rule });
}

/** One of the listed values in the path. */
export function WordParam(name: string, words: readonly string[], description?: string): ParameterDecorator {
  const read = (text: string) => words.find((word) => word === text);
  const schema = { type: 'string', enum: [...words] };
  return pathText({ name, schema, description }, { read, rule: `be one of ${words.join(', ')}` });
}

/** Rule for a text in the path. `read` returns undefined for a text that breaks it. */
interface TextRule {
  read: (text: string) => string | undefined;
  rule: string;
}

/** A part of the path in the document. The default description is what fields of this name mean. */
interface PathPart {
  name: string;
  schema: object;
  description: string | undefined;
}

function pathText(part: PathPart, { read, rule }: TextRule): ParameterDecorator {
  const { name } = part;
  const pipe = {
    transform: (value: unknown): string => {
      const found = typeof value === 'string' ? read(value) : undefined;
      if (found === undefined) throw invalid('REQUEST.INVALID', `${name} in the path must ${rule}.`);
      return found;
    },
  };
  return (target, key, index) => {
    Param(name, pipe)(target, key, index);
    document(part, target, key);
  };
}

function document(part: PathPart, target: object, key: string | symbol | undefined): void {
  if (key === undefined) return;
  const { name, schema, description = meaningOf(name, false) } = part;
  const descriptor = Object.getOwnPropertyDescriptor(target, key);
  if (descriptor)
    ApiParam({ name, required: true, schema, ...(description && { description }) })(target, key, descriptor);
}

/** `@Query()` for a class in a variable, for which the compiler emits no type. */
export function QueryOf(type: Type<object>): ParameterDecorator {
  return typed(Query(), type);
}

/** `@Body()` for a class in a variable, for which the compiler emits no type. */
export function BodyOf(type: Type<object>): ParameterDecorator {
  return typed(Body(), type);
}

/** Emits the type as the compiler does for a named class, because validation and OpenAPI document read it. */
function typed(fill: ParameterDecorator, type: Type<object>): ParameterDecorator {
  return (target, key, index) => {
    fill(target, key, index);
    if (key === undefined) return;
    const types = Reflect.getMetadata('design:paramtypes', target, key) as object[];
    Reflect.defineMetadata('design:paramtypes', types.with(index, type), target, key);
  };
}

/** A body that is a list of texts. */
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
