import type { NamedEnum } from '../kernel/dto/named-enums';
import { namedEnum } from '../kernel/dto/named-enums';
import { textToWire, toWire } from '../kernel/product/product-name';

type Schema = Record<string, unknown>;

/** Collects the enumerations of a document as it is converted, so that each becomes one schema. */
export class EnumSchemas {
  private readonly used = new Map<string, NamedEnum>();
  private readonly unnamed = new Set<string>();

  /** Returns what refers to the enumeration of a schema, null included; a schema without one is returned as it is. */
  refer(schema: Schema): Schema {
    const { enum: listed, type, nullable, ...rest } = schema;
    if (!Array.isArray(listed) || type === undefined) return schema;
    const values = listed.filter((value) => value !== null);
    const found = namedEnum(values);
    if (!found) {
      this.unnamed.add(values.join(', '));
      return schema;
    }
    this.used.set(found.name, found);
    const reference = { $ref: `#/components/schemas/${found.name}` };
    const mayBeNull = nullable === true || values.length < listed.length;
    return mayBeNull ? { ...rest, anyOf: [reference, { type: 'null' }] } : { ...rest, ...reference };
  }

  /** Returns the schemas by name. Throws an error that lists the enumerations without a name, or whose name a class has. */
  schemas(classes: object): Record<string, Schema> {
    const clashes = [...this.used.keys()].filter((name) => name in classes);
    if (this.unnamed.size > 0 || clashes.length > 0) {
      throw new Error(
        'Each enumeration of the OpenAPI document needs a name of its own: declare its values with nameEnum.\n' +
          [
            ...[...this.unnamed].map((values) => `without a name: ${values}`),
            ...clashes.map((name) => `a class is also called ${name}`),
          ].join('\n'),
      );
    }
    const entries = [...this.used.values()].map((found): [string, Schema] => [found.name, schemaOf(found)]);
    return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** The remedies stand in an extension, from where the SDKs take them. */
function schemaOf({ values, description, remedies }: NamedEnum): Schema {
  const schema = { description: textToWire(description), enum: values.map(toWire), type: 'string' };
  const advice = Object.entries(remedies).map(([value, remedy]) => [toWire(value), textToWire(remedy)]);
  return advice.length > 0 ? { ...schema, 'x-enum-remedies': Object.fromEntries(advice) } : schema;
}
