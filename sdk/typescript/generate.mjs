// Makes the generated part of the package from openapi.json: the types of all schemas, and one constant for each operation.
// Whatever reads the sources (the build, the linter, the tests) calls ensureGenerated() first.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The parts of a JSON schema that types and conversions are made of.
 * @typedef {object} Schema
 * @property {string} [$ref]
 * @property {string | string[]} [type]
 * @property {string} [format]
 * @property {string} [description]
 * @property {(string | number | null)[]} [enum]
 * @property {Record<string, string>} [x-enum-remedies] what to do about a value
 * @property {Schema[]} [anyOf]
 * @property {Schema[]} [oneOf]
 * @property {Schema[]} [allOf]
 * @property {Schema} [items]
 * @property {Record<string, Schema>} [properties]
 * @property {string[]} [required]
 * @property {Schema | boolean} [additionalProperties]
 *
 * @typedef {{content?: Record<string, {schema: Schema}>, required?: boolean, $ref?: string}} Content
 * @typedef {{name: string, in: string, required?: boolean, description?: string, schema: Schema}} Parameter
 *
 * @typedef {object} Operation
 * @property {string} operationId
 * @property {string} [summary]
 * @property {string} [description]
 * @property {boolean} [deprecated]
 * @property {Parameter[]} [parameters]
 * @property {Content} [requestBody]
 * @property {Record<string, Content>} responses
 *
 * @typedef {object} Document
 * @property {{url: string}[]} [servers]
 * @property {Record<string, Record<string, Operation>>} paths
 * @property {{schemas: Record<string, Schema>}} components
 *
 * How a value is converted: see src/operation.ts.
 * @typedef {string | Shapes | {[field: string]: Shape}} Shape
 * @typedef {Array<Shape>} Shapes
 */

const HEADER = '// Generated from openapi.json by generate.mjs. Do not edit.\n';

/** Fields that hold the text `infinity` for "not ended yet", which is no time. */
const OPEN_ENDED = new Set(['to_date', 'end_time', 'end_date', 'expires_at']);

/** Bodies of other protocols, which the transport of JSON cannot carry. */
const FOREIGN_BODIES = new Set(['application/x-thrift']);

/** @type {Record<string, string>} */
const SCALARS = { string: 'string', integer: 'number', number: 'number', boolean: 'boolean', null: 'null' };

const here = dirname(fileURLToPath(import.meta.url));

/**
 * Writes src/generated unless it was made from this document by this program. Processes may do so at the same time.
 * @param {string} [root] folder of the package
 */
export function ensureGenerated(root = here) {
  const document = readFileSync(findDocument(root), 'utf8');
  const made = createHash('sha256')
    .update(document)
    .update(readFileSync(fileURLToPath(import.meta.url)));
  const stamp = `${HEADER}// ${made.digest('hex')}\n`;
  const folder = join(root, 'src', 'generated');
  const operations = join(folder, 'operations.ts');
  // It is written last, so where it is up to date, the others are, too.
  if (existsSync(operations) && readFileSync(operations, 'utf8').startsWith(stamp)) return;
  const sources = generate(JSON.parse(document));
  mkdirSync(folder, { recursive: true });
  replace(join(folder, 'types.ts'), HEADER + sources.types);
  replace(join(folder, 'remedies.ts'), HEADER + sources.remedies);
  replace(operations, stamp + sources.operations);
}

/** @param {string} file @param {string} text */
function replace(file, text) {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, file);
}

/** A copy of the package has its copy of the document, the repository has it at its root. @param {string} root */
function findDocument(root) {
  const candidates = [join(root, 'openapi.json'), join(root, '..', '..', 'openapi.json')];
  const found = candidates.find((candidate) => existsSync(candidate));
  if (!found) throw new Error(`There is no openapi.json in ${root} or in the repository. Build in a clone of it.`);
  return found;
}

/** @param {Document} document @returns {Record<'types' | 'remedies' | 'operations', string>} sources of the files of these names */
export function generate(document) {
  const { schemas } = document.components;
  const shapes = usefulShapes(schemas);
  const types = Object.entries(schemas).map(([name, schema]) => declaration(name, schema));
  const described = describedOperations(document).sort(([, , a], [, , b]) => (a.operationId < b.operationId ? -1 : 1));
  const made = described.map(([method, path, operation]) => operationSource(document, method, path, operation, shapes));
  const names = Object.keys(schemas).filter((name) => made.some((source) => source.includes(`types.${name}`)));
  const imports = [
    names.length > 0 ? importOf('* as types', './types.ts') : '',
    importOf('{ Operation, PagedOperation, Shape, Upload }', '../operation.ts'),
  ];
  return {
    types: types.join(''),
    remedies: remedySource(schemas['ReasonCode'] ?? {}),
    operations: [...imports, '\n', shapeSources(shapes), ...made].join(''),
  };
}

/** @param {Schema} reasons */
function remedySource(reasons) {
  const entries = Object.entries(reasons['x-enum-remedies'] ?? {});
  const lines = entries.map(([code, remedy]) => `  ${propertyName(code)}: ${literal(remedy)},\n`);
  const about = '/** Advice about a failed run, by its reason code. */\n';
  return `\n${about}export const REMEDIES: Readonly<Record<string, string>> = {\n${lines.join('')}};\n`;
}

/** @param {Document} document @returns {[string, string, Operation][]} method, path and operation */
export function describedOperations(document) {
  const base = (document.servers?.[0]?.url ?? '/').replace(/\/$/, '');
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.operationId && !isForeign(operation))
      .map(
        ([method, operation]) =>
          /** @type {[string, string, Operation]} */ ([method.toUpperCase(), base + path, operation]),
      ),
  );
}

/** True for sockets, which have no answer, and for bodies of other protocols. @param {Operation & {'x-internal'?: boolean}} operation */
function isForeign(operation) {
  const bodies = Object.keys(operation.requestBody?.content ?? {});
  const succeeds = Object.keys(operation.responses).some((status) => status.startsWith('2'));
  return Boolean(operation['x-internal']) || bodies.some((type) => FOREIGN_BODIES.has(type)) || !succeeds;
}

/** @param {string} name @param {Schema} schema */
function declaration(name, schema) {
  const isObject = schema.type === 'object' && schema.properties;
  const text = isObject ? `interface ${name} ${objectType(schema, '')}` : `type ${name} = ${typeOf(schema)};`;
  return `\n${comment(schema.description)}export ${text}\n`;
}

/** @param {Schema} schema @param {string} indent @param {string} [prefix] of the names of other schemas */
function objectType(schema, indent, prefix = '') {
  const required = new Set(schema.required);
  const fields = Object.entries(schema.properties ?? {}).map(([key, value]) => {
    const mark = required.has(key) ? '' : '?';
    const type = typeOf(value, key, `${indent}  `, prefix);
    return `${comment(value.description, `${indent}  `)}${indent}  ${propertyName(key)}${mark}: ${type};\n`;
  });
  return fields.length > 0 ? `{\n${fields.join('')}${indent}}` : 'Record<string, never>';
}

/** @param {Schema} schema @param {string} [key] name of the field @param {string} [indent] @param {string} [prefix] @returns {string} */
function typeOf(schema, key = '', indent = '', prefix = '') {
  if (schema.$ref) return prefix + refName(schema.$ref);
  const union = schema.anyOf ?? schema.oneOf;
  if (union)
    return joined(
      union.map((member) => typeOf(member, key, indent, prefix)),
      ' | ',
    );
  if (schema.allOf)
    return joined(
      schema.allOf.map((member) => typeOf(member, key, indent, prefix)),
      ' & ',
    );
  if (schema.enum)
    return joined(
      schema.enum.map((value) => literal(value)),
      ' | ',
    );
  const kinds = [schema.type ?? 'unknown'].flat();
  return joined(
    kinds.map((kind) => singleType(kind, schema, key, indent, prefix)),
    ' | ',
  );
}

/** @param {string} kind @param {Schema} schema @param {string} key @param {string} indent @param {string} prefix */
function singleType(kind, schema, key, indent, prefix) {
  if (kind === 'array') {
    const item = typeOf(schema.items ?? {}, key, indent, prefix);
    return /^[\w.]+$/.test(item) ? `${item}[]` : `(${item})[]`;
  }
  if (kind === 'object' && schema.properties) return objectType(schema, indent, prefix);
  if (kind === 'object') {
    const values = schema.additionalProperties;
    return `Record<string, ${typeof values === 'object' ? typeOf(values, '', indent, prefix) : 'unknown'}>`;
  }
  if (kind === 'string' && schema.format === 'int64') return 'number';
  if (kind === 'string' && OPEN_ENDED.has(key)) return 'string | null';
  return SCALARS[kind] ?? 'unknown';
}

/** @param {string[]} parts @param {string} by */
function joined(parts, by) {
  const all = [...new Set(parts.flatMap((part) => (by === ' | ' && !/[{(<]/.test(part) ? part.split(by) : part)))];
  if (all.includes('unknown')) return 'unknown';
  return [...all.filter((part) => part !== 'null'), ...all.filter((part) => part === 'null')].join(by);
}

/**
 * Returns how the records of each schema are converted, of those that have anything to convert, each after those that it names
 * unless they name it, too.
 * @param {Record<string, Schema>} schemas
 * @returns {Map<string, Shape>}
 */
function usefulShapes(schemas) {
  /** @type {Map<string, Shape>} */
  const all = new Map();
  const add = (/** @type {string} */ name) => {
    if (all.has(name)) return;
    // The entry is made first, so that a schema that contains itself ends here.
    all.set(name, []);
    const shape = shapeOf(schemas[name] ?? {}, '', add);
    all.delete(name);
    all.set(name, shape ?? []);
  };
  for (const name of Object.keys(schemas)) add(name);
  /** @type {Set<string>} */
  const useful = new Set();
  const isUseful = (/** @type {Shape} */ shape) =>
    typeof shape === 'string' ? !shape.startsWith('$') || useful.has(shape) : Object.values(shape).some(isUseful);
  for (let before = -1; before < useful.size;) {
    before = useful.size;
    for (const [name, shape] of all) if (isUseful(shape)) useful.add(`$${name}`);
  }
  /** @type {(shape: Shape) => Shape} */
  const pruned = (shape) => {
    if (typeof shape === 'string') return shape;
    if (Array.isArray(shape)) return shape.map(pruned);
    const kept = Object.entries(shape).filter(([, value]) => isUseful(value));
    return Object.fromEntries(kept.map(([key, value]) => [key, pruned(value)]));
  };
  return new Map([...all].filter(([name]) => useful.has(`$${name}`)).map(([name, shape]) => [name, pruned(shape)]));
}

/**
 * @param {Schema} schema
 * @param {string} key name of the field
 * @param {(name: string) => void} onReference
 * @returns {Shape | undefined}
 */
function shapeOf(schema, key, onReference) {
  if (schema.$ref) {
    onReference(refName(schema.$ref));
    return `$${refName(schema.$ref)}`;
  }
  const members = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (members) return members.map((member) => shapeOf(member, key, onReference)).find((shape) => shape !== undefined);
  const kinds = [schema.type ?? 'unknown'].flat();
  if (kinds.includes('array')) {
    const item = shapeOf(schema.items ?? {}, key, onReference);
    return item === undefined ? undefined : [item];
  }
  if (kinds.includes('object')) return objectShape(schema, onReference);
  if (!kinds.includes('string')) return undefined;
  if (schema.format === 'int64') return 'int';
  return OPEN_ENDED.has(key) ? 'open' : undefined;
}

/** @param {Schema} schema @param {(name: string) => void} onReference @returns {Shape | undefined} */
function objectShape(schema, onReference) {
  const entries = Object.entries(schema.properties ?? {}).flatMap(([name, value]) => {
    const shape = shapeOf(value, name, onReference);
    return shape === undefined ? [] : [/** @type {[string, Shape]} */ ([name, shape])];
  });
  if (entries.length > 0) return Object.fromEntries(entries);
  const values = schema.additionalProperties;
  const each = typeof values === 'object' ? shapeOf(values, '', onReference) : undefined;
  return each === undefined ? undefined : { '*': each };
}

/** @param {Map<string, Shape>} shapes @returns {string} */
function shapeSources(shapes) {
  /** @type {Set<string>} */
  const defined = new Set();
  const sources = [...shapes].map(([name, shape]) => {
    const source = `const $${name}: Shape = ${shapeSource(shape, defined)};\n`;
    defined.add(`$${name}`);
    return source;
  });
  return sources.join('');
}

/** @param {Shape} shape @param {Set<string>} [defined] the shapes that exist already, if it is not all of them @returns {string} */
function shapeSource(shape, defined) {
  if (typeof shape === 'string') return shape.startsWith('$') ? shape : literal(shape);
  if (Array.isArray(shape)) return `[${shape.map((item) => shapeSource(item, defined)).join(', ')}]`;
  const fields = Object.entries(shape).map(([name, value]) => {
    const source = shapeSource(value, defined);
    const isLater = defined && namesIn(value).some((used) => !defined.has(used));
    return isLater ? `get ${propertyName(name)}() { return ${source}; }` : `${propertyName(name)}: ${source}`;
  });
  return `{ ${fields.join(', ')} }`;
}

/** @param {Shape} shape @returns {string[]} */
function namesIn(shape) {
  if (typeof shape !== 'string') return Object.values(shape).flatMap(namesIn);
  return shape.startsWith('$') ? [shape] : [];
}

/**
 * @param {Document} document
 * @param {string} method
 * @param {string} path
 * @param {Operation} operation
 * @param {Map<string, Shape>} shapes
 */
function operationSource(document, method, path, operation, shapes) {
  const { operationId: name } = operation;
  const answer = answerSchema(document, operation);
  const item = answer && itemOfPage(document, answer);
  const other = answer ? undefined : otherAnswer(document, operation);
  const type = answer ? typeOf(answer, '', '', 'types.') : (other?.type ?? 'undefined');
  const found = answer && shapeOf(answer, '', () => {});
  const shape = found && namesIn(found).every((used) => shapes.has(used.slice(1))) ? found : undefined;
  const input = inputType(operation);
  const inputName = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
  const kind = item
    ? `PagedOperation<${inputName}, ${type}, ${typeOf(item, '', '', 'types.')}>`
    : `Operation<${inputName}, ${type}>`;
  const fields = [`name: ${literal(name)}`, `method: ${literal(method)}`, `path: ${literal(path)}`];
  if (other) fields.push(`as: ${literal(other.as)}`);
  if (shape !== undefined) fields.push(`shape: ${shapeSource(shape)}`);
  const about = [operation.summary, operation.description].filter(Boolean).join('\n\n');
  const described = operation.deprecated ? `${about}\n\n@deprecated` : about;
  const constant = `${comment(described)}export const ${name}: ${kind} = { ${fields.join(', ')} };\n`;
  return `\nexport interface ${inputName} ${input}\n${constant}`;
}

/** @param {Operation} operation @returns {string} */
function inputType(operation) {
  const parts = ['path', 'query'].flatMap((place) => {
    const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === place);
    if (parameters.length === 0) return [];
    const fields = parameters.map(({ name, required, description, schema }) => {
      // Numbers that the wire carries as texts are numbers here, as in answers.
      const optional = required ? '' : '?';
      const type = `${typeOf(schema, '', '    ', 'types.')}${required ? '' : ' | null | undefined'}`;
      return `${comment(description, '    ')}    ${propertyName(name)}${optional}: ${type};\n`;
    });
    const isRequired = parameters.some(({ required }) => required);
    return [`  ${place}${isRequired ? '' : '?'}: {\n${fields.join('')}  };\n`];
  });
  const { requestBody } = operation;
  if (requestBody) {
    const schema = requestBody.content?.['application/json']?.schema;
    const type = schema ? typeOf(schema, '', '  ', 'types.') : 'Upload';
    parts.push(`  body${requestBody.required ? '' : '?'}: ${type};\n`);
  }
  return parts.length > 0 ? `{\n${parts.join('')}}` : '{}';
}

/** @param {Document} document @param {Operation} operation @returns {Content} the success */
function success(document, operation) {
  const found = Object.entries(operation.responses).find(([status]) => status.startsWith('2'));
  return found ? resolved(document, found[1]) : {};
}

/** @param {Document} document @param {Operation} operation @returns {Schema | undefined} undefined without JSON in the answer */
function answerSchema(document, operation) {
  return success(document, operation).content?.['application/json']?.schema;
}

/** Returns how a text or a file is read, if that is the answer. @param {Document} document @param {Operation} operation */
function otherAnswer(document, operation) {
  const [type] = Object.keys(success(document, operation).content ?? {});
  if (type === undefined) return undefined;
  return type.startsWith('text/') ? { as: 'text', type: 'string' } : { as: 'blob', type: 'Blob' };
}

/** @param {Document} document @param {Schema} schema @returns {Schema | undefined} */
function itemOfPage(document, schema) {
  const { properties = {} } = resolved(document, schema);
  return Object.keys(properties).sort().join() === 'data,result_set' ? properties['data']?.items : undefined;
}

/** @template {{$ref?: string}} T @param {Document} document @param {T} value @returns {T} */
function resolved(document, value) {
  let found = value;
  while (found.$ref) {
    const parts = found.$ref.replace(/^#\//, '').split('/');
    found = /** @type {T} */ (
      parts.reduce((at, part) => /** @type {any} */ (at)[part], /** @type {unknown} */ (document))
    );
  }
  return found;
}

/** @param {string} names @param {string} file */
function importOf(names, file) {
  return `import type ${names} from '${file}';\n`;
}

/** @param {string} reference */
function refName(reference) {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

/** @param {string | number | null} value */
function literal(value) {
  if (typeof value !== 'string') return String(value);
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
}

/** @param {string} name */
function propertyName(name) {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name);
}

/** @param {string | undefined} text @param {string} [indent] */
function comment(text, indent = '') {
  if (!text) return '';
  const lines = text.replaceAll('*/', '*\\/').split('\n');
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) ensureGenerated();
