import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiProperty, type ApiPropertyOptions, getSchemaPath } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsDate,
  IsEmail,
  IsIn,
  IsInt,
  IsISO8601,
  IsNumber,
  IsObject,
  IsString,
  IsUUID,
  Max,
  Min,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { singleLine } from '../../../../libs/contracts/single-line';
import { fromWire, isInternalName, toWire } from '../product/product-name';
import { meaningOf } from './field-meanings';
import { ONE_IS_REQUIRED } from './one-is-required';
import { asSent, type FieldShape, shapeContext } from './field-shapes';
import { atLeastCharacters, atMostCharacters, matching, uniqueItems } from './text-rules';

export interface FieldOptions {
  /** The key may be absent. */
  optional?: boolean;
  nullable?: boolean;
  /**
   * Says what the value is, with its unit and bounds, and what null means. A field that means the same in every class is
   * described in `FIELD_MEANINGS` instead.
   */
  description?: string;
  example?: unknown;
  default?: unknown;
  /** True for an older name, which clients should not send any more. */
  deprecated?: boolean;
  /** Names of this parameter and of others, of which a request must have at least one. */
  oneIsRequired?: readonly string[];
}

interface NumberOptions extends FieldOptions {
  min?: number;
  max?: number;
}

interface TextOptions extends FieldOptions {
  minLength?: number;
  maxLength?: number;
  pattern?: RegExp;
  /** A wider pattern for the OpenAPI document, if validators of other languages cannot read `pattern`. */
  publishedPattern?: RegExp;
  /** Describes the pattern in the error: `must be …`. */
  meaning?: string;
  /** The error about the pattern names the value, which is no secret. */
  showsValue?: boolean;
}

interface TextsOptions extends FieldOptions {
  unique?: boolean;
  maxItems?: number;
  minItemLength?: number;
  maxItemLength?: number;
  itemPattern?: RegExp;
  /** Describes the pattern of items in the error: `must be …`. */
  itemMeaning?: string;
}

const MAX_ID = Number.MAX_SAFE_INTEGER;
export const NAME_PATTERN = /^[a-z0-9.@_-]{1,64}$/;
const NAME_MEANING = '1 to 64 characters of a-z, 0-9, ".", "@", "_" and "-"';
const NAME_DESCRIPTION = `Name of the record: ${NAME_MEANING}. A name that another record of this kind already has is refused with 409`;
/** Describes the end of a record's validity in responses. */
const ENDED = 'When the record ceased to be valid, in ISO 8601; `infinity` while it is valid';
// These patterns are published. Validators of other languages understand `\x` and plain classes, but neither `\p` nor
// lookaheads.
/* eslint-disable no-control-regex -- control characters are what is refused */
const LINE_PATTERN = /^[^\x00-\x1f\x7f-\x9f]*$/;
const FILLED_LINE_PATTERN = /^[^\S\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$/;
/* eslint-enable no-control-regex */
const LINE_MEANING = 'without control characters';
const FILLED_LINE_MEANING = 'more than spaces, and without control characters';
const MAX_LINE = 1024;
const MAX_ITEMS = 1000;
/** Every listed value is shorter than this. */
const MAX_LISTED_LENGTH = 256;

function base(options: FieldOptions, schema: ApiPropertyOptions, shape?: FieldShape): PropertyDecorator {
  const { optional = false, nullable = false } = options;
  const skip = (value: unknown) => (optional && value === undefined) || (nullable && value === null);
  const documented = {
    ...schema,
    required: !optional && options.default === undefined,
    ...(nullable ? { nullable: true } : {}),
    ...(options.example === undefined ? {} : { example: options.example }),
    ...(options.default === undefined ? {} : { default: options.default }),
    ...(options.deprecated ? { deprecated: true } : {}),
    ...(options.oneIsRequired ? { [ONE_IS_REQUIRED]: options.oneIsRequired } : {}),
  };
  const validate = ValidateIf((_object, value) => !skip(value), shape ? { context: shapeContext(shape) } : {});
  return (target, key) => {
    const description = options.description ?? schema.description ?? meaningOf(String(key), nullable);
    ApiProperty({ ...documented, ...(description ? { description } : {}) } as ApiPropertyOptions)(target, key);
    validate(target, key);
  };
}

/** Ids are numbers, or decimal strings as responses to writes have them. Anything else is left for the validator. */
function toInteger(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d{1,19}$/.test(value) ? Number(value) : value;
}

function toList(value: unknown): unknown {
  if (value === undefined || value === null) return value;
  const items: unknown[] = Array.isArray(value) ? value : [value];
  return items.flatMap((item) => (typeof item === 'string' ? item.split(',') : [item]));
}

/** PostgreSQL has no year 0, and the day after 9999-12-31 has a year of five digits. */
const DAY = /^(?!0000|9999)\d{4}-\d{2}-\d{2}$/;
const DAY_MESSAGE = '$property must be a date such as 2026-01-31';
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

function toDate(value: unknown): unknown {
  return typeof value === 'string' && TIMESTAMP.test(value) ? new Date(value) : value;
}

function toReportedText(
  value: unknown,
  { maxLength, nullable = false }: FieldOptions & { maxLength?: number },
): unknown {
  if (typeof value !== 'string') return value;
  const line = singleLine(value, maxLength);
  return line === '' && nullable ? null : line;
}

/** Returns the listed spelling of a value, which may be in any letter case and have the product's configured name. */
function toListed(value: unknown, values: readonly string[], aliases: Readonly<Record<string, string>> = {}): unknown {
  if (typeof value !== 'string' || value.length > MAX_LISTED_LENGTH) return value;
  if (isInternalName(value)) return '';
  const wanted = fromWire(value).toLowerCase();
  const alias = Object.entries(aliases).find(([name]) => name.toLowerCase() === wanted)?.[1];
  return alias ?? values.find((candidate) => candidate.toLowerCase() === wanted) ?? value;
}

/** The OpenAPI generator distinguishes a function that returns a class from the class itself only by the function's name, `type`. */
function lazyType(getType: () => new () => object): { type: () => new () => object } {
  return { type: () => getType() };
}

function integer(
  format: 'int32' | 'int64',
  limits: { min: number; max: number },
  options: NumberOptions,
): PropertyDecorator {
  const min = options.min ?? limits.min;
  const max = options.max ?? limits.max;
  return applyDecorators(
    base(options, {
      type: 'integer',
      format,
      ...(options.min === undefined ? {} : { minimum: min }),
      ...(options.max === undefined ? {} : { maximum: max }),
    }),
    Transform(({ value }) => toInteger(value), { toClassOnly: true }),
    IsInt({ message: '$property must be an integer' }),
    Min(min),
    Max(max),
  );
}

/** Decorators of request and response fields. Each sets validation, conversion and OpenAPI schema at once. */
export const Field = {
  int64: (options: NumberOptions = {}) => integer('int64', { min: -MAX_ID, max: MAX_ID }, options),
  int32: (options: NumberOptions = {}) => integer('int32', { min: -(2 ** 31), max: 2 ** 31 - 1 }, options),
  /** The id of an existing record. */
  id: (options: FieldOptions = {}) => integer('int64', { min: 0, max: MAX_ID }, options),
  /** An id in the response to a write: a decimal string. */
  idText: (options: FieldOptions = {}) =>
    applyDecorators(base(options, { type: 'string', format: 'int64' }), IsString()),
  idTexts: (options: FieldOptions = {}) =>
    applyDecorators(
      base(options, { type: 'array', items: { type: 'string', format: 'int64' } }),
      IsArray(),
      IsString({ each: true }),
    ),
  number: (options: FieldOptions = {}) => applyDecorators(base(options, { type: 'number' }), IsNumber()),
  uuid: (options: FieldOptions = {}) => applyDecorators(base(options, { type: 'string', format: 'uuid' }), IsUUID()),
  email: (options: FieldOptions = {}) =>
    applyDecorators(base(options, { type: 'string', format: 'email' }), IsEmail(), atMostCharacters(254)),
  /** A point in time of ISO 8601. */
  timestamp: (options: FieldOptions = {}) => base(options, { type: 'string', format: 'date-time' }),
  /** A calendar day of ISO 8601. */
  day: (options: FieldOptions = {}) =>
    applyDecorators(
      base(options, { type: 'string', format: 'date' }),
      matching(DAY, { maxLength: 10, message: DAY_MESSAGE }),
      IsISO8601({ strict: true }, { message: '$property must be a date that exists' }),
    ),
  validityEnd: (options: FieldOptions = {}) =>
    base(
      { nullable: true, ...options },
      { type: 'string', description: options.nullable === false ? ENDED : `${ENDED}; null means the same` },
    ),
  boolean: (options: FieldOptions = {}) => applyDecorators(base(options, { type: 'boolean' }), IsBoolean()),
  text: (options: TextOptions = {}) =>
    applyDecorators(
      base(options, {
        type: 'string',
        ...(options.minLength === undefined ? {} : { minLength: options.minLength }),
        ...(options.maxLength === undefined ? {} : { maxLength: options.maxLength }),
        ...(options.pattern ? { pattern: (options.publishedPattern ?? options.pattern).source } : {}),
      }),
      IsString(),
      ...(options.minLength === undefined ? [] : [atLeastCharacters(options.minLength)]),
      ...(options.maxLength === undefined ? [] : [atMostCharacters(options.maxLength)]),
      ...(options.pattern
        ? [
            matching(options.pattern, {
              maxLength: options.maxLength,
              message: `$property must be ${options.meaning ?? 'well formed'}`,
              ...(options.showsValue ? { showsValue: true } : {}),
            }),
          ]
        : []),
    ),
  /** The name of a record in a request. */
  name: (options: FieldOptions = {}) =>
    Field.text({ description: NAME_DESCRIPTION, ...options, pattern: NAME_PATTERN, meaning: NAME_MEANING }),
  /** An optional free text. Null clears it; a string must not be empty. */
  description: (options: FieldOptions = {}) =>
    Field.text({
      optional: true,
      nullable: true,
      minLength: 1,
      maxLength: 10_000,
      description: 'Free-text description; null for none',
      ...options,
    }),
  /** A name from another system, on one line because it becomes part of that system's configurations and commands. */
  line: (options: FieldOptions & { filled?: boolean } = {}) =>
    Field.text({
      maxLength: MAX_LINE,
      ...options,
      ...(options.filled
        ? { minLength: 1, pattern: FILLED_LINE_PATTERN, meaning: FILLED_LINE_MEANING }
        : { pattern: LINE_PATTERN, meaning: LINE_MEANING }),
    }),
  /**
   * A text for people that a machine reports. Any text is accepted, so that it never causes the report to be refused. It is
   * reduced to one line, or to null if nothing is left and the field is nullable.
   */
  reportedText: (options: FieldOptions & { maxLength?: number } = {}) =>
    applyDecorators(
      base(options, { type: 'string' }),
      Transform(({ value }) => toReportedText(value, options), { toClassOnly: true }),
      IsString(),
    ),
  /** An id, code or address that a machine reports. It becomes null if it does not match the form, since it is useless then. */
  reportedCode: (form: RegExp, options: FieldOptions = {}) =>
    applyDecorators(
      base({ ...options, nullable: true }, { type: 'string' }),
      Transform(({ value }): unknown => (typeof value === 'string' && !form.test(value) ? null : value), {
        toClassOnly: true,
      }),
      IsString(),
    ),
  /** Lines as {@link Field.line} accepts them, none of them blank. */
  lines: (options: FieldOptions & { unique?: boolean } = {}) =>
    Field.texts({
      ...options,
      minItemLength: 1,
      maxItemLength: MAX_LINE,
      itemPattern: FILLED_LINE_PATTERN,
      itemMeaning: FILLED_LINE_MEANING,
    }),
  /** One of the listed values, ignoring case on the wire. */
  oneOf: (values: readonly string[], options: FieldOptions & { aliases?: Readonly<Record<string, string>> } = {}) =>
    applyDecorators(
      base(options, { type: 'string', enum: [...values] }),
      Transform(({ value }) => toListed(value, values, options.aliases), { toClassOnly: true }),
      IsIn([...values], { message: () => `$property must be one of ${values.map(toWire).join(', ')}` }),
    ),
  texts: (options: TextsOptions = {}) =>
    applyDecorators(
      base(options, {
        type: 'array',
        items: {
          type: 'string',
          ...(options.minItemLength ? { minLength: options.minItemLength } : {}),
          ...(options.maxItemLength ? { maxLength: options.maxItemLength } : {}),
          ...(options.itemPattern ? { pattern: options.itemPattern.source } : {}),
        },
        ...(options.unique ? { uniqueItems: true } : {}),
      }),
      IsArray(),
      ArrayMaxSize(options.maxItems ?? MAX_ITEMS),
      IsString({ each: true }),
      ...(options.minItemLength ? [atLeastCharacters(options.minItemLength, { each: true })] : []),
      ...(options.maxItemLength ? [atMostCharacters(options.maxItemLength, { each: true })] : []),
      ...(options.itemPattern
        ? [
            matching(options.itemPattern, {
              each: true,
              maxLength: options.maxItemLength,
              message: `each value in $property must be ${options.itemMeaning}`,
            }),
          ]
        : []),
      ...(options.unique ? [uniqueItems()] : []),
    ),
  /** Unique ids in a body. */
  ids: (options: FieldOptions = {}) =>
    applyDecorators(
      base(options, {
        type: 'array',
        items: { type: 'integer', format: 'int64' },
        uniqueItems: true,
      }),
      Transform(({ value }: { value: unknown }) => (Array.isArray(value) ? value.map(toInteger) : value), {
        toClassOnly: true,
      }),
      IsArray(),
      ArrayMaxSize(MAX_ITEMS),
      IsInt({ each: true, message: 'each value in $property must be an integer' }),
      Min(0, { each: true }),
      Max(MAX_ID, { each: true }),
      uniqueItems(),
    ),
  /** A nested record of the given class. */
  object: (type: () => new () => object, options: FieldOptions = {}) =>
    applyDecorators(base(options, lazyType(type), { kind: 'record', type }), IsObject(), ValidateNested(), Type(type)),
  /** A list of nested records of the given class. */
  objects: (type: () => new () => object, options: FieldOptions = {}) =>
    applyDecorators(
      base(options, { ...lazyType(type), isArray: true }, { kind: 'records', type }),
      IsArray(),
      ArrayMaxSize(MAX_ITEMS),
      ValidateNested({ each: true }),
      Type(type),
    ),
  /** A list of records of the given class, which the service validates one by one with `validated`. */
  unreadObjects: (type: () => new () => object, options: FieldOptions & { maxItems: number }) =>
    applyDecorators(
      base(options, { ...lazyType(type), isArray: true }, { kind: 'unread' }),
      Transform(({ value }: { value: unknown }) => asSent(value), { toClassOnly: true }),
      IsArray(),
      ArrayMaxSize(options.maxItems),
    ),
  /** In responses: a nested record of the given class, or a list of them. */
  objectOrList:
    (type: () => new () => object, options: FieldOptions = {}): PropertyDecorator =>
    (target, key) => {
      const record = { $ref: getSchemaPath(type()) };
      ApiExtraModels(type())(target.constructor);
      base(options, { oneOf: [record, { type: 'array', items: record }] }, { kind: 'records', type })(target, key);
    },
  /** A JSON object of free keys. */
  map: (options: FieldOptions & { values?: 'string' } = {}) =>
    applyDecorators(
      base(
        options,
        { type: 'object', additionalProperties: options.values ? { type: options.values } : true },
        { kind: 'free' },
      ),
      Transform(({ value }: { value: unknown }) => asSent(value), { toClassOnly: true }),
      IsObject(),
    ),
};

/** Decorators of query parameters. Lists may be repeated or comma separated. */
export const Param = {
  id: (options: FieldOptions = {}) => Field.id({ optional: true, ...options }),
  int32: (options: NumberOptions = {}) => Field.int32({ optional: true, ...options }),
  int64: (options: NumberOptions = {}) => Field.int64({ optional: true, ...options }),
  text: (options: TextOptions = {}) => Field.text({ optional: true, minLength: 1, maxLength: 4096, ...options }),
  uuid: (options: FieldOptions = {}) => Field.uuid({ optional: true, ...options }),
  uuids: (options: FieldOptions = {}) =>
    applyDecorators(
      base({ optional: true, ...options }, { type: 'array', items: { type: 'string', format: 'uuid' } }),
      Transform(({ value }: { value: unknown }) => toList(value), { toClassOnly: true }),
      IsArray(),
      ArrayMaxSize(MAX_ITEMS),
      IsUUID(undefined, { each: true }),
    ),
  day: (options: FieldOptions = {}) => Field.day({ optional: true, ...options }),
  /** A point in time of ISO 8601 with its offset from UTC; converted to a `Date`. */
  timestamp: (options: FieldOptions = {}) =>
    applyDecorators(
      Field.timestamp({ optional: true, ...options }),
      Transform(({ value }: { value: unknown }) => toDate(value), { toClassOnly: true }),
      IsDate({ message: '$property must be a timestamp such as 2026-01-31T08:00:00Z' }),
    ),
  boolean: (options: FieldOptions = {}) =>
    applyDecorators(
      Field.boolean({ optional: true, ...options }),
      Transform(
        ({ value }: { value: unknown }) => {
          const text = typeof value === 'string' ? value.toLowerCase() : value;
          return text === 'true' || text === '1' ? true : text === 'false' || text === '0' ? false : value;
        },
        { toClassOnly: true },
      ),
    ),
  oneOf: (values: readonly string[], options: FieldOptions & { aliases?: Readonly<Record<string, string>> } = {}) =>
    Field.oneOf(values, { optional: true, ...options }),
  ids: (options: FieldOptions = {}) =>
    applyDecorators(
      base(
        { optional: true, ...options },
        {
          type: 'array',
          items: { type: 'integer', format: 'int64' },
          uniqueItems: true,
        },
      ),
      Transform(
        ({ value }: { value: unknown }) => {
          const list = toList(value);
          return Array.isArray(list) ? list.filter((part) => part !== '').map(toInteger) : list;
        },
        { toClassOnly: true },
      ),
      IsArray(),
      ArrayMaxSize(MAX_ITEMS),
      IsInt({ each: true, message: 'each value in $property must be an integer' }),
      Min(0, { each: true }),
      Max(MAX_ID, { each: true }),
      uniqueItems(),
    ),
  someOf: (values: readonly string[], options: FieldOptions & { aliases?: Readonly<Record<string, string>> } = {}) =>
    applyDecorators(
      base(
        { optional: true, ...options },
        {
          type: 'array',
          items: { type: 'string', enum: [...values] },
        },
      ),
      Transform(
        ({ value }: { value: unknown }) => {
          const list = toList(value);
          return Array.isArray(list) ? list.map((item) => toListed(item, values, options.aliases)) : list;
        },
        { toClassOnly: true },
      ),
      IsArray(),
      IsIn([...values], {
        each: true,
        message: () => `each value in $property must be one of ${values.map(toWire).join(', ')}`,
      }),
    ),
};
