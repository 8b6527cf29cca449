import type { OpenAPIObject } from '@nestjs/swagger';
import { assertDescribed, descriptionsOf } from './assert-described';

const described = (): OpenAPIObject => ({
  openapi: '3.1.0',
  info: { title: 'A document', version: '1' },
  paths: {
    '/clusters': {
      get: {
        operationId: 'listClusters',
        description: 'Lists them.\n\n**Access:** Any role.',
        parameters: [{ name: 'limit', in: 'query', description: 'Records per page' }],
        responses: {},
      },
    },
  },
  components: {
    schemas: {
      ClusterRead: {
        description: 'A cluster.',
        properties: {
          name: { type: 'string', description: 'Its name' },
          size: { type: ['integer', 'null'], description: 'GB; null if it is not known' },
        },
      },
    },
  },
});

type Changed = {
  paths: Record<string, { get: { description?: string; parameters: { description?: string }[] } }>;
  components: {
    schemas: Record<string, { description?: string; properties: Record<string, { description?: string }> }>;
  };
};

const problemOf = (change: (document: Changed) => void): string => {
  const document = described();
  change(document as unknown as Changed);
  try {
    assertDescribed(document);
  } catch (error) {
    return (error as Error).message;
  }
  return '';
};

describe('assertDescribed', () => {
  it('accepts a document whose parts are all described', () => {
    expect(problemOf(() => undefined)).toBe('');
    expect(descriptionsOf(described()).map(({ kind, parts }) => [kind, parts.length])).toEqual([
      ['operation', 1],
      ['schema', 1],
      ['property', 2],
      ['null of a property', 1],
      ['parameter', 1],
    ]);
  });

  it.each<[string, (document: Changed) => void]>([
    ['operation: listClusters', ({ paths }) => delete paths['/clusters']!.get.description],
    ['operation: listClusters', ({ paths }) => (paths['/clusters']!.get.description = '**Access:** Any role.')],
    ['schema: ClusterRead', ({ components }) => delete components.schemas['ClusterRead']!.description],
    ['property: ClusterRead.name', ({ components }) => (components.schemas['ClusterRead']!.properties['name'] = {})],
    [
      'null of a property: ClusterRead.size',
      ({ components }) => (components.schemas['ClusterRead']!.properties['size']!.description = 'GB'),
    ],
    ['parameter: listClusters(limit)', ({ paths }) => (paths['/clusters']!.get.parameters[0]!.description = ' ')],
  ])('names the part without a description: %s', (line, change) => {
    expect(problemOf(change)).toMatch(/^The OpenAPI document has parts without a description\. /);
    expect(problemOf(change).split('\n').slice(1)).toEqual([line]);
  });
});
