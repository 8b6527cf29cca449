import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const root = join(__dirname, '..', '..');
const FILES = ['src', 'libs']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  .filter((file) => file.endsWith('.ts') && !/\.(spec|contract)\.ts$|^src\/database\/migrations\//.test(file));

/** Errors of the platform itself: their messages are read in logs. */
const INTERNAL = new Set([
  'Error',
  'AggregateError',
  'DOMException',
  'SecretBoxError',
  'TypeError',
  'UnrecoverableError',
]);
/** Errors whose message continues after the name of a server or a file. */
const PREDICATES = new Set(['ConfigurationFileError', 'DirectoryUnavailableError', 'ProviderUnreachableError']);
const PATHS_OF_NODES = /(?<![\w.…])\/(opt|tmp|var|home|root|etc|usr)\//;
/** Stands for an interpolated value in a text. */
const HOLE = '…';

/** Names of fields and parameters on the wire: a sentence may begin with one. */
const WIRE_NAMES = new Set<string>();
JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8'), (key, value: unknown) => {
  if (key === 'properties' && value !== null) for (const name of Object.keys(value as object)) WIRE_NAMES.add(name);
  if (key === 'name' && typeof value === 'string') WIRE_NAMES.add(value.toLowerCase());
  return value;
});
const beginsSmall = (text: string) => /^[a-z]/.test(text) && !WIRE_NAMES.has(/^[\w-]+/.exec(text)?.[0] ?? '');

type Kind = 'sentence' | 'internal' | 'predicate' | 'log' | 'validation' | 'field';

interface Message {
  kind: Kind;
  text: string;
  at: string;
}

const SMALL = 'begins with a small letter';
const STOP = 'ends in a full stop';

/** Faults by kind; of a text that begins or ends with a hole, only the known part is checked. */
const FAULTS: Record<Kind, Readonly<Record<string, (text: string) => boolean>>> = {
  sentence: { [SMALL]: beginsSmall, 'has no full stop at its end': (text) => /[^.!?…]$/.test(text) },
  internal: { [SMALL]: beginsSmall },
  predicate: {},
  log: { [SMALL]: beginsSmall, [STOP]: (text) => text.endsWith('.') },
  validation: {
    'does not begin with the property': (text) => !/^(each value in |each )?\$property /.test(text),
    [STOP]: (text) => text.endsWith('.'),
  },
  field: { [SMALL]: beginsSmall },
};

/** Returns all possible values of a text; empty if only the program knows them. */
function textsOf(node: ts.Node): string[] {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isTemplateExpression(node))
    return [node.head.text + node.templateSpans.map(({ literal }) => HOLE + literal.text).join('')];
  if (ts.isConditionalExpression(node)) return [...textsOf(node.whenTrue), ...textsOf(node.whenFalse)];
  if (ts.isParenthesizedExpression(node)) return textsOf(node.expression);
  if (ts.isArrowFunction(node)) return textsOf(node.body);
  if (!ts.isBinaryExpression(node)) return [];
  const [left, right] = [textsOf(node.left), textsOf(node.right)];
  if (node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return [...left, ...right];
  return (left.length > 0 ? left : [HOLE]).flatMap((begin) =>
    (right.length > 0 ? right : [HOLE]).map((end) => begin + end),
  );
}

function kindOfError(name: string): Kind | null {
  if (!/(Error|Exception)$/.test(name)) return null;
  if (INTERNAL.has(name)) return 'internal';
  return PREDICATES.has(name) ? 'predicate' : 'sentence';
}

/** Functions by file and name, with the kinds of their message parameters. */
type Makers = Map<string, Map<number, Kind>>;

class Source {
  readonly tree: ts.SourceFile;
  /** Returns the key of each function that is imported from another file of the project. */
  private readonly imported = new Map<string, string>();

  constructor(
    readonly file: string,
    text: string,
  ) {
    this.tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    for (const statement of this.tree.statements.filter(ts.isImportDeclaration)) {
      const bindings = statement.importClause?.namedBindings;
      if (!ts.isStringLiteral(statement.moduleSpecifier) || !bindings || !ts.isNamedImports(bindings)) continue;
      const from = `${join(file, '..', statement.moduleSpecifier.text)}.ts`;
      for (const { name, propertyName } of bindings.elements)
        this.imported.set(name.text, `${from}#${(propertyName ?? name).text}`);
    }
  }

  /** Calls back for each place with messages; `maker` is the enclosing function. */
  visit(makers: Makers, found: (kind: Kind, place: ts.Node, maker: Maker | null) => void): void {
    const visit = (node: ts.Node, around: Maker | null): void => {
      const maker = this.makerOf(node) ?? around;
      for (const [kind, place] of this.placesOf(node, makers)) found(kind, place, maker);
      ts.forEachChild(node, (child) => visit(child, maker));
    };
    visit(this.tree, null);
  }

  private makerOf(node: ts.Node): Maker | null {
    const parameters = (of: ts.SignatureDeclaration) => of.parameters.map(({ name }) => name.getText());
    if (ts.isFunctionDeclaration(node) && node.name)
      return { key: `${this.file}#${node.name.text}`, parameters: parameters(node) };
    if (ts.isMethodDeclaration(node))
      return { key: `${this.file}#this.${node.name.getText()}`, parameters: parameters(node) };
    if (!ts.isArrowFunction(node) || !ts.isVariableDeclaration(node.parent)) return null;
    return { key: `${this.file}#${node.parent.name.getText()}`, parameters: parameters(node) };
  }

  private placesOf(node: ts.Node, makers: Makers): (readonly [Kind, ts.Node])[] {
    if (ts.isNewExpression(node) && ts.isIdentifier(node.expression)) {
      const kind = kindOfError(node.expression.text);
      return kind === null ? [] : (node.arguments ?? []).map((argument) => [kind, argument]);
    }
    if (ts.isCallExpression(node)) {
      const callee = node.expression.getText();
      if (/\blog(ger)?\.(debug|info|warn|error|fatal)$/.test(callee))
        return node.arguments.map((argument) => ['log', argument]);
      const kinds = makers.get(this.imported.get(callee) ?? `${this.file}#${callee}`) ?? new Map<number, Kind>();
      return [...kinds].flatMap(([index, kind]) =>
        node.arguments[index] ? [[kind, node.arguments[index]] as const] : [],
      );
    }
    if (!ts.isPropertyAssignment(node) || !/^(message|reason|problem|remedy)$/.test(node.name.getText())) return [];
    const isValidation = textsOf(node.initializer).some((text) => text.includes('$property'));
    return [[isValidation ? 'validation' : 'field', node.initializer]];
  }
}

interface Maker {
  key: string;
  parameters: string[];
}

/** Finds the functions that pass a parameter on as a message, until no further ones are found. */
function makersIn(sources: readonly Source[]): Makers {
  const makers: Makers = new Map();
  for (let before = -1; before !== makers.size;) {
    before = makers.size;
    for (const source of sources)
      source.visit(makers, (kind, place, maker) => {
        const index = maker && ts.isIdentifier(place) ? maker.parameters.indexOf(place.text) : -1;
        if (maker && index >= 0)
          makers.set(maker.key, (makers.get(maker.key) ?? new Map<number, Kind>()).set(index, kind));
      });
  }
  return makers;
}

/** Returns the messages of sources by their places. A text without spaces is a code. */
function messagesIn(sources: readonly Source[]): Message[] {
  const makers = makersIn(sources);
  const messages: Message[] = [];
  for (const source of sources)
    source.visit(makers, (kind, place) => {
      for (const text of textsOf(place).filter((one) => /\S\s\S/.test(one))) {
        const line = source.tree.getLineAndCharacterOfPosition(place.getStart()).line + 1;
        messages.push({ kind, text, at: `${source.file}:${line}` });
      }
    });
  return messages;
}

function faultsOf({ kind, text }: Message): string[] {
  const faults = Object.entries(FAULTS[kind]).flatMap(([fault, has]) => (has(text) ? [fault] : []));
  return PATHS_OF_NODES.test(text) ? [...faults, 'names a path of a node'] : faults;
}

// The linter checks the words of all texts (scripts/speech/words.mjs); this checks the form of those that are messages.
describe('Messages', () => {
  it('have the form of their kind: errors, logs, validations and reasons', () => {
    const all = messagesIn(FILES.map((file) => new Source(file, readFileSync(join(root, file), 'utf8'))));
    for (const kind of Object.keys(FAULTS))
      expect([kind, all.filter((one) => one.kind === kind).length > 5]).toEqual([kind, true]);
    const found = all.flatMap((message) =>
      faultsOf(message).map((fault) => `${message.at}: ${fault}: ${message.text}`),
    );
    expect(found).toEqual([]);
  });

  it.each([
    ["throw new DomainError('A.B', 'no such run.')", 'begins with a small letter'],
    ["throw new DomainError('A.B', `The run ${id} has ended`)", 'has no full stop at its end'],
    [
      "const gone = (what: string) => new MetastoreError(what); gone('The table is gone')",
      'has no full stop at its end',
    ],
    [
      "this.refuse('The table is gone'); class A { refuse(what: string) { throw new AnyError(what); } }",
      'has no full stop at its end',
    ],
    ["throw new Error('the row is gone')", 'begins with a small letter'],
    ["this.logger.warn({ err }, isOld ? 'The run ended.' : 'The run began')", 'ends in a full stop'],
    ["const options = { message: '$property is wrong.' }", 'ends in a full stop'],
    ["const end = { reason: 'Look into /var/log/agent' }", 'names a path of a node'],
  ])('with a fault are found in %s', (text, fault) => {
    expect(messagesIn([new Source('any.ts', text)]).flatMap(faultsOf)).toEqual([fault]);
  });

  it.each([
    "throw new DomainError('A.B', 'workspace_id must be an integer.')",
    "throw new DomainError('A.B', `The run failed: ${reason}`)",
    "throw new ProviderUnreachableError('cannot be reached')",
    "this.logger.info('The run began')",
    "const options = { message: 'each value in $property must be an id' }",
    "const end = { reason: 'NODE_LOST', message: 'The log is at https://docs.test/var/log.' }",
  ])('without a fault are those in %s', (text) => {
    expect(messagesIn([new Source('any.ts', text)]).flatMap(faultsOf)).toEqual([]);
  });
});
