import { asSent, fieldShapes, knownFields } from './field-shapes';
import { Field } from './fields';

class Disk {
  @Field.int32() size: number;
}

class Settings {
  @Field.text({ optional: true }) name?: string;
  @Field.texts({ optional: true }) files?: string[];
  @Field.map({ optional: true }) labels?: Record<string, unknown>;
  @Field.object(() => Disk, { optional: true }) disk?: Disk;
  @Field.objects(() => Disk, { optional: true }) disks?: Disk[];
}

class Body extends Settings {
  @Field.id({ optional: true }) id?: number;
}

const problemOf = (body: object): string => {
  try {
    knownFields(Body, body);
  } catch (error) {
    return (error as Error).message;
  }
  return '';
};

describe('fieldShapes', () => {
  it('knows the fields of a class and of those it extends', () => {
    const kinds = [...fieldShapes(Body)].map(([name, { kind }]) => `${name} ${kind}`);
    expect(kinds.sort()).toEqual([
      'disk record',
      'disks records',
      'files plain',
      'id plain',
      'labels free',
      'name plain',
    ]);
  });
});

describe('knownFields', () => {
  it('copies the fields of the class, nested records included', () => {
    const body = { id: 1, name: 'a', files: ['b'], disk: { size: 1 }, disks: [{ size: 2 }], labels: null };
    expect(knownFields(Body, body)).toEqual(body);
  });

  it('hides maps of free keys from the conversion', () => {
    const labels = { a: { b: 1 } };
    const known = knownFields(Body, { labels }) as { labels: unknown };
    expect(typeof known.labels).toBe('function');
    expect(asSent(known.labels)).toBe(labels);
    expect(asSent('text')).toBe('text');
  });

  it.each([
    [{ name: { a: 1 } }, 'name'],
    [{ name: { size: 1 } }, 'name'],
    [{ files: { a: 1 } }, 'files'],
    [{ id: { a: 1 } }, 'id'],
    [{ disk: [{ a: 1 }] }, 'disk'],
    [{ disks: { a: 1 } }, 'disks'],
    [{ labels: [{ a: 1 }] }, 'labels'],
  ])('replaces the misplaced record in %j', (body, field) => {
    const value = (knownFields(Body, body) as Record<string, unknown>)[field];
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) expect(typeof one).toBe('symbol');
  });

  it('replaces records in lists of plain values, and lists in lists of records', () => {
    expect(knownFields(Body, { files: ['a', { b: 1 }, ['c']] })).toEqual({
      files: ['a', expect.any(Symbol), expect.any(Symbol)],
    });
    expect(knownFields(Body, { disks: [[{ size: 1 }], 1] })).toEqual({ disks: [expect.any(Symbol), 1] });
  });

  it.each([
    [{ other: 1 }, 'other'],
    [{ disk: { size: 1, colour: 2 } }, 'disk.colour'],
    [{ disks: [{ size: 1 }, { colour: 2 }] }, 'disks.1.colour'],
    [{ toString: 1 }, 'toString'],
  ])('names the field of %j that the class does not have', (body, field) => {
    expect(problemOf(body)).toBe(`The request is not valid: ${field} is not a known field.`);
  });

  it('names at most twenty unknown fields, and cuts long names', () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`key${index}`, 1]));
    expect(problemOf(many).split(';')).toHaveLength(20);
    expect(problemOf({ ['k'.repeat(1_000)]: 1 })).toBe(
      `The request is not valid: ${'k'.repeat(64)}… is not a known field.`,
    );
  });
});
