import { getMetadataStorage } from 'class-validator';
import { Problems } from './problems';
import { keepRulesByClass } from './rules-by-class';

keepRulesByClass();

type Class = new () => object;

/**
 * The shape of a field's values: `plain` for numbers, texts and lists of them; `record` and `records` for nested classes;
 * `free` for an object of arbitrary keys; `unread` for a list whose items the service validates itself.
 */
export type FieldShape =
  | { kind: 'plain' }
  | { kind: 'record' | 'records'; type: () => Class }
  | { kind: 'free' | 'unread' };

/** Key of the shape in the context of a field's validation, which subclasses inherit. */
const SHAPE = 'platform:shape';

const PLAIN: FieldShape = { kind: 'plain' };

/** Returns the context of a validation decorator that carries the shape. */
export function shapeContext(shape: FieldShape): Record<string, unknown> {
  return { [SHAPE]: shape };
}

const tolerant = new WeakSet<object>();

/**
 * Drops unknown keys of a request class instead of refusing them, because its programs may be of a newer release. Requests
 * of people are refused, so that a misspelled name is noticed.
 */
export const IgnoresUnknownFields = (): ClassDecorator => (type) => void tolerant.add(type);

const shapes = new WeakMap<object, ReadonlyMap<string, FieldShape>>();

/** Returns the fields of a class by name. */
export function fieldShapes(type: Class): ReadonlyMap<string, FieldShape> {
  const known = shapes.get(type);
  if (known) return known;
  const fields = new Map<string, FieldShape>();
  for (const { propertyName, context } of getMetadataStorage().getTargetValidationMetadatas(type, '', false, false)) {
    const shape = (context as Record<string, FieldShape> | undefined)?.[SHAPE];
    if (shape) fields.set(propertyName, shape);
    else if (!fields.has(propertyName)) fields.set(propertyName, PLAIN);
  }
  shapes.set(type, fields);
  return fields;
}

/** Replaces a record in a field that cannot have one. Every rule refuses a symbol, and the conversion does not descend into it. */
const MISPLACED = Symbol('a misplaced record');

/** Hides free keys and values from class-transformer, which takes quadratic time in the number of keys. */
const unseen = (value: object) => () => value;

/** Returns the hidden value of a field as the client sent it. */
export function asSent(value: unknown): unknown {
  return typeof value === 'function' ? (value as () => unknown)() : value;
}

/**
 * Returns a copy of a request with the fields of its class, which can be converted and validated in time that grows
 * linearly with its size. Throws a 400 that names unknown keys, unless the class ignores them.
 */
export function knownFields(type: Class, request: object): object {
  const problems = new Problems();
  const known = recordOf(type, request as Record<string, unknown>, '', problems);
  if (problems.any) throw problems.error();
  return known;
}

function recordOf(type: Class, source: Record<string, unknown>, path: string, problems: Problems): object {
  const fields = fieldShapes(type);
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(source)) {
    const shape = fields.get(key);
    if (shape) copy[key] = valueOf(shape, value, path + key, problems);
    else if (tolerant.has(type)) continue;
    else if (problems.isFull) break;
    else problems.addUnknown(path + key);
  }
  return copy;
}

function valueOf(shape: FieldShape, value: unknown, path: string, problems: Problems): unknown {
  switch (shape.kind) {
    case 'plain':
      return Array.isArray(value) ? value.map(plain) : plain(value);
    case 'free':
      return isRecord(value) ? unseen(value) : plain(value);
    case 'unread':
      return Array.isArray(value) ? unseen(value) : plain(value);
    case 'record':
      return isRecord(value) ? recordOf(shape.type(), value, `${path}.`, problems) : plain(value);
    case 'records': {
      if (!Array.isArray(value)) return plain(value);
      const type = shape.type();
      return value.map((item, index) =>
        isRecord(item) ? recordOf(type, item, `${path}.${index}.`, problems) : plain(item),
      );
    }
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function plain(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? MISPLACED : value;
}
