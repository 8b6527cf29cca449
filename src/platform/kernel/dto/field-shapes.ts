import { getMetadataStorage } from 'class-validator';
import { Problems } from './problems';
import { keepRulesByClass } from './rules-by-class';

keepRulesByClass();

type Class = new () => object;

/**
 * What the values of a field are made of: numbers, texts and lists of them; records of another class, or a list of
 * them; arbitrary keys and values; or a list that whoever takes it validates.
 */
export type FieldShape =
  | { kind: 'plain' }
  | { kind: 'record' | 'records'; type: () => Class }
  | { kind: 'free' | 'unread' };

/** The key under which a field's validation carries its shape, also where other classes inherit the field. */
const SHAPE = 'platform:shape';

const PLAIN: FieldShape = { kind: 'plain' };

/** As the context of a validation decorator. */
export function shapeContext(shape: FieldShape): Record<string, unknown> {
  return { [SHAPE]: shape };
}

const tolerant = new WeakSet<object>();

/**
 * Marks a class of requests of programs that may be of a newer release than this one: keys that it does not know are left
 * out instead of being refused. For people a refusal is better, which shows a misspelled name.
 */
export const IgnoresUnknownFields = (): ClassDecorator => (type) => void tolerant.add(type);

const shapes = new WeakMap<object, ReadonlyMap<string, FieldShape>>();

/** The fields of a class of requests by name. */
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

/**
 * Replaces a record where a field cannot have one: no rule of a field admits it, and there is nothing to walk through.
 */
const MISPLACED = Symbol('a misplaced record');

/** Free keys and values, hidden from the conversion of the others, which takes quadratic time in the number of keys. */
const unseen = (value: object) => () => value;

/** What was sent in a field of free keys, once the others are converted. */
export function asSent(value: unknown): unknown {
  return typeof value === 'function' ? (value as () => unknown)() : value;
}

/**
 * A copy of a request with the fields that its class has, ready to be converted and validated in time that grows only
 * with its size. Throws a 400 that names keys unknown to the class, unless it ignores them.
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
