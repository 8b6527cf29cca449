import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

const MANIFEST = { name: 'META-INF/MANIFEST.MF', content: Buffer.from('Manifest-Version: 1.0\r\n\r\n') };

/** The first day that a ZIP file can state, so that the same classes become the same jar. */
const DATE = (1 << 5) | 1;
const VERSION = 20;

/**
 * Writes a jar with the classes of one package, uncompressed. A Java runtime has no program that does.
 * @param {string} file
 * @param {string} folder with the classes of all packages
 * @param {string} packageName
 * @throws {Error} if the package has no class
 */
export function writeJar(file, folder, packageName) {
  const path = packageName.replaceAll('.', '/');
  const names = readdirSync(join(folder, path))
    .filter((name) => name.endsWith('.class'))
    .toSorted();
  if (names.length === 0) throw new Error(`${join(folder, path)} has no class.`);
  const classes = names.map((name) => ({
    name: `${path}/${name}`,
    content: readFileSync(join(folder, path, name)),
  }));
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const { name, content } of [MANIFEST, ...classes]) {
    const [place, fields] = [offset, fieldsOf(name, content)];
    const header = Buffer.concat([record(30, 0x04034b50, { at: 4, fields }), Buffer.from(name)]);
    parts.push(header, content);
    offset += header.length + content.length;
    const entry = record(46, 0x02014b50, { at: 6, fields });
    entry.writeUInt16LE(VERSION, 4);
    entry.writeUInt32LE(place, 42);
    directory.push(entry, Buffer.from(name));
  }
  const list = Buffer.concat(directory);
  const end = record(22, 0x06054b50);
  for (const at of [8, 10]) end.writeUInt16LE(classes.length + 1, at);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(offset, 16);
  writeFileSync(file, Buffer.concat([...parts, list, end]));
}

/**
 * Returns the fields that an entry has in its own header and in the directory at the end of the file.
 * @param {string} name
 * @param {Buffer} content
 */
function fieldsOf(name, content) {
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(VERSION, 0);
  fields.writeUInt16LE(DATE, 8);
  fields.writeUInt32LE(crc32(content), 10);
  fields.writeUInt32LE(content.length, 14);
  fields.writeUInt32LE(content.length, 18);
  fields.writeUInt16LE(name.length, 22);
  return fields;
}

/**
 * @param {number} size
 * @param {number} signature
 * @param {{at: number, fields: Buffer}} [part]
 */
function record(size, signature, part) {
  const buffer = Buffer.alloc(size);
  buffer.writeUInt32LE(signature, 0);
  part?.fields.copy(buffer, part.at);
  return buffer;
}
