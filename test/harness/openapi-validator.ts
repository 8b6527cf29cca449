import { AssertionError } from 'node:assert';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';

type Node = Record<string, unknown>;

/** A response as a client receives it; `body` is the parsed JSON, or undefined if there was none. */
export interface ObservedResponse {
  method: string;
  /** Path of the request without its query. */
  path: string;
  status: number;
  contentType: string | null;
  body: unknown;
}

interface Operation {
  method: string;
  template: string;
  pattern: RegExp;
  /** Fewer parameters match first: `/clusters/summary` before `/clusters/{id}`. */
  parameters: number;
  node: Node;
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options'];
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Validates responses against an OpenAPI 3.1 document: the operation and the status must be in it, and the body must match its
 * schema. Fields that a schema does not name are problems, unless it says `additionalProperties`.
 */
export class OpenApiValidator {
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true, logger: false });
  private readonly document: Node;
  private readonly operations: Operation[];
  private readonly validators = new Map<string, ValidateFunction>();

  constructor(document: object) {
    addFormats(this.ajv);
    this.document = new Closing(structuredClone(document) as Node).apply();
    this.ajv.addSchema({ ...this.document, $id: 'openapi' });
    this.operations = this.readOperations();
  }

  /** Throws an assertion error that lists every problem of the response. */
  assertResponse(response: ObservedResponse): void {
    const problems = this.problemsOf(response);
    if (problems.length === 0) return;
    const method = response.method.toUpperCase();
    const body = JSON.stringify(response.body)?.slice(0, 2000) ?? 'no body';
    throw new AssertionError({
      message: `${method} ${response.path} answered ${response.status} against its documentation:\n${problems
        .map((problem) => `  - ${problem}`)
        .join('\n')}\n  body: ${body}`,
    });
  }

  problemsOf(response: ObservedResponse): string[] {
    const operation = this.find(response.method, response.path);
    if (!operation) return ['the operation is not documented'];
    const responses = isNode(operation.node['responses']) ? operation.node['responses'] : {};
    const key = [String(response.status), `${Math.floor(response.status / 100)}XX`, 'default'].find(
      (k) => k in responses,
    );
    if (key === undefined)
      return [`status ${response.status} is not documented, only ${Object.keys(responses).join(', ')}`];
    const segments = ['paths', operation.template, operation.method, 'responses', key];
    return this.contentProblems(this.follow(segments), response);
  }

  private contentProblems(segments: string[], response: ObservedResponse): string[] {
    const content = this.at([...segments, 'content']);
    const documented = isNode(content) ? Object.keys(content) : [];
    const type = response.contentType?.split(';')[0]?.trim().toLowerCase() ?? null;
    if (documented.length === 0) {
      return response.body === undefined ? [] : ['an answer without content is documented, but there is a body'];
    }
    const key = documented.find((name) => name === type) ?? documented.find((name) => matchesRange(name, type));
    if (key === undefined) return [`content type ${type ?? 'none'} is not documented, only ${documented.join(', ')}`];
    if (!isJson(key)) return [];
    if (response.body === undefined) return ['a JSON body is documented, but there is none'];
    const schema = [...segments, 'content', key, 'schema'];
    return this.at(schema) === undefined ? [] : this.schemaProblems(schema, response.body);
  }

  private schemaProblems(segments: string[], body: unknown): string[] {
    const pointer = `openapi#/${segments.map(escapeSegment).join('/')}`;
    let validate = this.validators.get(pointer);
    if (!validate) {
      validate = this.ajv.compile({ $ref: pointer });
      this.validators.set(pointer, validate);
    }
    return validate(body) ? [] : (validate.errors ?? []).map(describeError);
  }

  private find(method: string, path: string): Operation | undefined {
    return this.operations.find((o) => o.method === method.toLowerCase() && o.pattern.test(path));
  }

  /** Returns the location of a node after following its `$ref`s. */
  private follow(segments: string[]): string[] {
    const node = this.at(segments);
    const reference = isNode(node) ? node['$ref'] : undefined;
    if (typeof reference !== 'string') return segments;
    return this.follow(referenceSegments(reference));
  }

  private at(segments: string[]): unknown {
    return atSegments(this.document, segments);
  }

  private readOperations(): Operation[] {
    const paths = isNode(this.document['paths']) ? this.document['paths'] : {};
    const [server] = listOf(this.document['servers']);
    const base = isNode(server) ? String(server['url']).replace(/\/$/, '') : '';
    const found = Object.entries(paths).flatMap(([template, item]) =>
      Object.entries(isNode(item) ? item : {})
        .filter(([method]) => METHODS.includes(method))
        .map(([method, node]) => ({
          method,
          template,
          pattern: templatePattern(base + template),
          parameters: template.split('{').length - 1,
          node: node as Node,
        })),
    );
    return found.sort((a, b) => a.parameters - b.parameters);
  }
}

function templatePattern(template: string): RegExp {
  const parts = template.split(/\{[^}]+\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^/]+')}$`);
}

function escapeSegment(segment: string): string {
  return encodeURIComponent(segment.replaceAll('~', '~0').replaceAll('/', '~1'));
}

function isJson(type: string): boolean {
  return /^application\/(.+\+)?json$/.test(type);
}

function matchesRange(range: string, type: string | null): boolean {
  if (type === null || !range.includes('*')) return false;
  return new RegExp(`^${range.replace(/[.+]/g, '\\$&').replaceAll('*', '[^/]*')}$`).test(type);
}

function describeError(error: ErrorObject): string {
  const params = error.params as Record<string, unknown>;
  const extra = params['additionalProperty'] ?? params['unevaluatedProperty'] ?? params['allowedValues'];
  const detail = extra === undefined ? '' : `: ${JSON.stringify(extra)}`;
  return `${error.instancePath || '/'} ${error.message ?? error.keyword}${detail}`;
}

/**
 * Makes the schemas of a document refuse unknown fields. This closes each use of an object schema instead of
 * the shared schema itself, so that `allOf` can add fields to a schema that is used alone elsewhere.
 */
class Closing {
  constructor(private readonly document: Node) {}

  apply(): Node {
    const components = isNode(this.document['components']) ? this.document['components'] : {};
    for (const [section, entries] of Object.entries(components)) {
      for (const entry of Object.values(isNode(entries) ? entries : {})) {
        if (section === 'schemas') this.closeParts(entry);
        else this.closeContents(entry);
      }
    }
    this.closeContents(this.document['paths']);
    return this.document;
  }

  /** Finds the `schema` of every media type below a path or a shared response. */
  private closeContents(value: unknown): void {
    if (Array.isArray(value)) value.forEach((item) => this.closeContents(item));
    if (!isNode(value)) return;
    for (const [key, child] of Object.entries(value)) {
      if (key === 'schema') this.close(child);
      else if (key !== 'example' && key !== 'examples') this.closeContents(child);
    }
  }

  private close(schema: unknown): void {
    if (!isNode(schema)) return;
    if (this.namesFields(schema) && !('additionalProperties' in schema)) schema['unevaluatedProperties'] ??= false;
    this.closeParts(schema);
  }

  private closeParts(schema: unknown): void {
    if (!isNode(schema)) return;
    const addsFields = isNode(schema['properties']);
    for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
      for (const part of listOf(schema[keyword])) {
        if (keyword === 'allOf' || addsFields) this.closeParts(part);
        else this.close(part);
      }
    }
    for (const keyword of ['items', 'additionalProperties', 'unevaluatedProperties']) this.close(schema[keyword]);
    listOf(schema['prefixItems']).forEach((item) => this.close(item));
    for (const keyword of ['properties', 'patternProperties']) {
      const properties = schema[keyword];
      if (isNode(properties)) Object.values(properties).forEach((property) => this.close(property));
    }
  }

  private namesFields(schema: Node, seen = new Set<Node>()): boolean {
    if (seen.has(schema)) return false;
    seen.add(schema);
    if (isNode(schema['properties'])) return true;
    const target = typeof schema['$ref'] === 'string' ? atReference(this.document, schema['$ref']) : undefined;
    return [target, ...['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => listOf(schema[keyword]))].some(
      (part) => isNode(part) && this.namesFields(part, seen),
    );
  }
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function referenceSegments(reference: string): string[] {
  const segments = reference.replace(/^#\//, '').split('/');
  return segments.map((s) => decodeURIComponent(s).replaceAll('~1', '/').replaceAll('~0', '~'));
}

function atSegments(document: Node, segments: string[]): unknown {
  return segments.reduce<unknown>((node, segment) => (isNode(node) ? node[segment] : undefined), document);
}

function atReference(document: Node, reference: string): unknown {
  return atSegments(document, referenceSegments(reference));
}
