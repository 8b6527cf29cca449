import { ApiSchema, type ApiSchemaOptions } from '@nestjs/swagger';
import { type Meanings, meaningOf, worded } from './field-meanings';
import { ONE_IS_REQUIRED } from './one-is-required';

/** Metadata keys under which @nestjs/swagger keeps what it documents of a class and of its properties. */
const SCHEMA = 'swagger/apiSchema';
const PROPERTIES = 'swagger/apiModelPropertiesArray';
const PROPERTY = 'swagger/apiModelProperties';

interface Property {
  description?: string;
  nullable?: boolean;
}

/**
 * Says in the OpenAPI document what a record or a request is. The document is not created if a schema does not say it.
 * @param oneIsRequired names of optional fields of which a request must have at least one
 */
export function About(description: string, oneIsRequired?: readonly string[]): ClassDecorator {
  if (oneIsRequired === undefined) return (type) => documentSchema(type, { description });
  const rule = `One of ${oneIsRequired.join(' and ')} is required.`;
  const documented = { description: `${description} ${rule}`, [ONE_IS_REQUIRED]: [oneIsRequired] };
  return (type) => documentSchema(type, documented);
}

/**
 * Describes fields of a class, and of those that extend it, that have no description of their own. It takes precedence over
 * `FIELD_MEANINGS`.
 */
export function FieldsMean(meanings: Meanings): ClassDecorator {
  return (type) => {
    for (const [key, meaning] of Object.entries(meanings)) describeField(type.prototype as object, key, meaning);
  };
}

/**
 * Shows an example request in the OpenAPI document. The examples run unchanged against a fresh quickstart, in the order of
 * the sections: their ids are those of lookups, 1 for the records of the quickstart's job, and the following ones.
 */
export function Example(request: object): ClassDecorator {
  return (type) => documentSchema(type, { example: request } as ApiSchemaOptions);
}

/** Allows keys in the OpenAPI document that the class does not have. */
export function KeepsUnknownKeys(): ClassDecorator {
  return (type) => documentSchema(type, { additionalProperties: true } as ApiSchemaOptions);
}

/** Adds to what other decorators documented of the class itself: the generator reads only the last entry. */
function documentSchema(type: object, options: ApiSchemaOptions): void {
  const before = (Reflect.getOwnMetadata(SCHEMA, type) ?? []) as ApiSchemaOptions[];
  ApiSchema({ ...before.at(-1), ...options })(type as new () => object);
}

function describeField(prototype: object, key: string, meaning: Meanings[string]): void {
  const fields = (Reflect.getMetadata(PROPERTIES, prototype) ?? []) as string[];
  if (!fields.includes(`:${key}`)) return;
  const property = Reflect.getMetadata(PROPERTY, prototype, key) as Property;
  const { nullable = false } = property;
  // The class knows better than the meaning that the name has elsewhere.
  if (property.description !== undefined && property.description !== meaningOf(key, nullable)) return;
  const description = worded(meaning, nullable);
  Reflect.defineMetadata(PROPERTY, { ...property, description }, prototype, key);
}
