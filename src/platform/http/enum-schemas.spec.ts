import { nameEnum } from '../kernel/dto/named-enums';
import { EnumSchemas } from './enum-schemas';
import { toOpenApi31 } from './openapi';

const COLOURS = nameEnum('TestColour', ['red', 'green'], 'A colour.', { red: 'as a rose' });
const reference = { $ref: '#/components/schemas/TestColour' };

describe('enumerations in the document', () => {
  const converted = (schema: object) => toOpenApi31(schema as never, new EnumSchemas());

  it('are references, with what a field says of itself', () => {
    const schema = { type: 'string', enum: [...COLOURS], description: 'Of the roof', default: 'red' };
    expect(converted(schema)).toEqual({ ...reference, description: 'Of the roof', default: 'red' });
    expect(converted({ type: 'array', items: { type: 'string', enum: [...COLOURS] } })).toEqual({
      type: 'array',
      items: reference,
    });
  });

  it.each([
    { type: 'string', enum: [...COLOURS], nullable: true },
    { type: 'string', enum: [...COLOURS, null], nullable: true },
    { type: ['string', 'null'], enum: [...COLOURS, null] },
  ])('may be null: %j', (schema) => {
    expect(converted(schema)).toEqual({ anyOf: [reference, { type: 'null' }] });
  });

  it('are one schema each, with the meanings of the values', () => {
    const enums = new EnumSchemas();
    toOpenApi31(
      [
        { type: 'string', enum: [...COLOURS] },
        { type: 'string', enum: [...COLOURS, null] },
      ] as never,
      enums,
    );
    expect(enums.schemas({})).toEqual({
      TestColour: { type: 'string', enum: ['red', 'green'], description: 'A colour.\n\n- `red`: as a rose' },
    });
    expect(() => enums.schemas({ TestColour: {} })).toThrow('a class is also called TestColour');
  });

  it('say what to do about the values that have a remedy', () => {
    const values = nameEnum('TestEnd', ['lost', 'won'], 'An end.', {}, { lost: 'Play again.', won: null });
    const enums = new EnumSchemas();
    enums.refer({ type: 'string', enum: [...values] });
    expect(enums.schemas({})).toMatchObject({ TestEnd: { 'x-enum-remedies': { lost: 'Play again.' } } });
  });

  it('stop the boot of the documentation without a name', () => {
    const enums = new EnumSchemas();
    toOpenApi31({ type: 'string', enum: ['up', 'down'] }, enums);
    expect(() => enums.schemas({})).toThrow('without a name: up, down');
  });

  it('have one name for each list, and one list for each name', () => {
    expect(nameEnum('TestColour', ['red', 'green'], 'A colour.')).toEqual(COLOURS);
    expect(() => nameEnum('TestColour', ['blue'], 'A colour.')).toThrow('name each list once');
    expect(() => nameEnum('TestPaint', ['red', 'green'], 'A colour.')).toThrow('TestPaint and TestColour');
  });
});
