import { SaxesParser } from 'saxes';
import { withoutByteOrderMark } from '../json/byte-order-mark';
import { assertFileSize, ConfigurationFileError } from './configuration-file';

const MAX_PROPERTIES = 2000;
const MAX_NAME = 255;
const MAX_VALUE = 16_384;

/** Elements of a property that are ignored. */
const IGNORED_ELEMENTS: readonly string[] = ['description', 'final', 'source', 'tag'];

/**
 * Reads the properties of a Hadoop configuration file and trims names and values. The file is plain data: document types,
 * and with them entities, includes and everything else that Hadoop would load are refused, as are duplicate properties.
 * Throws {@link ConfigurationFileError}.
 */
export function parseSiteXml(file: string, text: string): Map<string, string> {
  assertFileSize(file, text);
  return new SiteReader(file).read(text);
}

interface OpenProperty {
  name?: string;
  value?: string;
}

/** Reads one file. It accepts nothing deeper than `configuration > property > name`, so no stack can grow. */
class SiteReader {
  private readonly properties = new Map<string, string>();
  private readonly parser = new SaxesParser();
  private readonly open: string[] = [];
  private property: OpenProperty = {};
  private text = '';

  constructor(private readonly file: string) {
    this.parser.on('error', (error) => this.refuse(`it is not well-formed XML (${plain(error)}).`));
    this.parser.on('doctype', () => this.refuse('it has a DOCTYPE. Document types and entities are not read.'));
    this.parser.on('opentag', ({ name, attributes }) => this.begin(name, Object.keys(attributes)));
    this.parser.on('text', (text) => this.add(text));
    this.parser.on('cdata', (text) => this.add(text));
    this.parser.on('closetag', ({ name }) => this.end(name));
  }

  read(text: string): Map<string, string> {
    this.parser.write(withoutByteOrderMark(text)).close();
    return this.properties;
  }

  private begin(name: string, attributes: readonly string[]): void {
    if (/(^|:)include$/i.test(name)) this.refuse('it includes another file. Send the whole content in one file.');
    const path = [...this.open, name].join(' > ');
    if (!isKnown(this.open, name)) {
      this.refuse(`it has the element ${quoted(path)}; expected are configuration > property > name and value.`);
    }
    if (attributes.length > 0) this.refuse(`the element ${quoted(name)} has attributes, which are not read.`);
    if (name === 'property') this.property = {};
    if (name === 'name' || name === 'value') {
      if (this.property[name] !== undefined) this.refuse(`a property has two elements ${quoted(name)}.`);
    }
    this.open.push(name);
    this.text = '';
  }

  private add(text: string): void {
    const [inner] = this.open.slice(-1);
    if (this.open.length === 3) {
      if (inner === 'name' || inner === 'value') this.text += text;
    } else if (text.trim() !== '') this.refuse('it has text outside of names and values.');
  }

  private end(name: string): void {
    this.open.pop();
    if (name === 'name' || name === 'value') this.property[name] = this.text.trim();
    if (name === 'property') this.keep();
  }

  private keep(): void {
    const { name, value } = this.property;
    if (name === undefined || name === '') this.refuse('a property has no name.');
    if (!/^[\x21-\x7e]+$/.test(name) || name.length > MAX_NAME) {
      this.refuse(`the name ${quoted(name)} must have at most ${MAX_NAME} characters, all printable ASCII.`);
    }
    if (value === undefined) this.refuse(`the property ${quoted(name)} has no value.`);
    if (value.length > MAX_VALUE) this.refuse(`the value of ${quoted(name)} has more than ${MAX_VALUE} characters.`);
    if (this.properties.has(name)) this.refuse(`the property ${quoted(name)} appears twice.`);
    if (this.properties.size >= MAX_PROPERTIES) this.refuse(`it has more than ${MAX_PROPERTIES} properties.`);
    this.properties.set(name, value);
  }

  private refuse(reason: string): never {
    throw new ConfigurationFileError(this.file, reason);
  }
}

function isKnown(open: readonly string[], name: string): boolean {
  switch (open.length) {
    case 0:
      return name === 'configuration';
    case 1:
      return name === 'property';
    case 2:
      return name === 'name' || name === 'value' || IGNORED_ELEMENTS.includes(name);
    default:
      return false;
  }
}

/** Returns the position of a parser's error, without the text that it quotes, which may be a password. */
function plain({ message }: Error): string {
  return /^(?<place>\d+:\d+): /.exec(message)?.groups?.['place'] ?? 'near its end';
}

/** Quotes a name from a file in a message: on one line, of bounded length. */
export function quoted(name: string): string {
  const line = name.replaceAll(/[^\x20-\x7e]/g, '?');
  return JSON.stringify(line.length > 100 ? `${line.slice(0, 100)}…` : line);
}
