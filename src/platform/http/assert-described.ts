import type { OpenAPIObject } from '@nestjs/swagger';
import { ACCESS_SECTION } from './operation-document';

interface Described {
  description?: string;
}

interface Property extends Described {
  type?: string | string[];
  anyOf?: { type?: string }[];
}

interface Schema extends Described {
  properties?: Record<string, Property>;
}

interface DescribedOperation extends Described {
  operationId: string;
  parameters?: (Described & { name: string })[];
}

/** Parts of a document that must have a description, by their kind, each with its name and whether it has one. */
export interface Descriptions {
  kind: 'operation' | 'schema' | 'property' | 'null of a property' | 'parameter';
  parts: readonly { name: string; isDescribed: boolean }[];
}

/** Lists what a reader needs explained, which includes what null means where it can occur. An operation whose description only says who may call it counts as undescribed. */
export function descriptionsOf(document: OpenAPIObject): Descriptions[] {
  const operations = Object.values(document.paths).flatMap(
    (item) => Object.values(item as object) as DescribedOperation[],
  );
  const schemas = Object.entries((document.components?.schemas ?? {}) as Record<string, Schema>);
  return [
    {
      kind: 'operation',
      parts: operations.map(({ operationId, description = '' }) => ({
        name: operationId,
        isDescribed: !description.startsWith(ACCESS_SECTION.trim()) && isText(description),
      })),
    },
    { kind: 'schema', parts: schemas.map(([name, { description }]) => part(name, description)) },
    {
      kind: 'property',
      parts: schemas.flatMap(([schema, { properties = {} }]) =>
        Object.entries(properties).map(([name, { description }]) => part(`${schema}.${name}`, description)),
      ),
    },
    {
      kind: 'null of a property',
      parts: schemas.flatMap(([schema, { properties = {} }]) =>
        Object.entries(properties)
          .filter(([, property]) => mayBeNull(property))
          .map(([name, { description = '' }]) => ({
            name: `${schema}.${name}`,
            isDescribed: /\bnull\b/i.test(description),
          })),
      ),
    },
    {
      kind: 'parameter',
      parts: operations.flatMap(({ operationId, parameters = [] }) =>
        parameters.map(({ name, description }) => part(`${operationId}(${name})`, description)),
      ),
    },
  ];
}

/**
 * Throws an error that names every operation, schema, property and parameter without a description, and every property that
 * can be null and does not say what that means.
 */
export function assertDescribed(document: OpenAPIObject): void {
  const lines = descriptionsOf(document).flatMap(({ kind, parts }) => {
    const missing = parts.filter(({ isDescribed }) => !isDescribed).map(({ name }) => name);
    return missing.length === 0 ? [] : [`${kind}: ${missing.join(', ')}`];
  });
  if (lines.length === 0) return;
  throw new Error(
    'The OpenAPI document has parts without a description. Describe each at the class that declares it: an operation in ' +
      '@Operation, a schema with @About, a field or parameter in its decorator, in @FieldsMean or in FIELD_MEANINGS.\n' +
      lines.join('\n'),
  );
}

function mayBeNull({ type, anyOf = [] }: Property): boolean {
  return (Array.isArray(type) && type.includes('null')) || anyOf.some((one) => one.type === 'null');
}

function part(name: string, description: string | undefined): { name: string; isDescribed: boolean } {
  return { name, isDescribed: isText(description) };
}

function isText(description: string | undefined): boolean {
  return description !== undefined && description.trim() !== '';
}
