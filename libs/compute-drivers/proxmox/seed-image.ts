/** Bytes of a sector of ISO 9660. */
const SECTOR = 2048;
const NUL = '\0';
/** Sectors: after 16 unused ones and three descriptors come path tables and root of each tree, then the files. */
const AT = { primaryPaths: 19, primaryRoot: 21, jolietPaths: 22, jolietRoot: 24, files: 25 } as const;

interface PlacedFile {
  name: string;
  content: Buffer;
  sector: number;
}

/** One directory tree of the image, with its encoding of names and text. */
interface Tree {
  root: number;
  paths: number;
  text(value: string, length: number): Buffer;
  fileName(name: string): Buffer;
}

const PRIMARY: Tree = {
  root: AT.primaryRoot,
  paths: AT.primaryPaths,
  text: (value, length) => Buffer.from(value.padEnd(length), 'latin1').subarray(0, length),
  // This tree allows neither lower case nor hyphens. Readers use the names of the Joliet tree.
  fileName: (name) => Buffer.from(`${name.toUpperCase().replaceAll('-', '_').slice(0, 8)}.;1`, 'latin1'),
};

const JOLIET: Tree = {
  root: AT.jolietRoot,
  paths: AT.jolietPaths,
  text: (value, length) => bigEndianText(value.padEnd(length / 2).slice(0, length / 2), length),
  fileName: (name) => bigEndianText(name, name.length * 2),
};

/**
 * Returns a disc image with the label `cidata`, from which cloud-init (data source NoCloud) reads the user data of a machine.
 * The format is ISO 9660 with the Joliet extension, which allows names such as `user-data`. The same files give the same
 * bytes.
 */
export function seedImage(userData: string, instanceId: string): Buffer {
  const metaData = JSON.stringify({ 'instance-id': instanceId });
  const contents = { 'meta-data': metaData, 'user-data': userData };
  let sector: number = AT.files;
  const files = Object.entries(contents).map(([name, text]): PlacedFile => {
    const file = { name, content: Buffer.from(text), sector };
    sector += Math.max(1, Math.ceil(file.content.length / SECTOR));
    return file;
  });
  const image = Buffer.alloc(sector * SECTOR);
  const put = (at: number, block: Buffer) => block.copy(image, at * SECTOR);
  put(16, descriptor(1, PRIMARY, sector));
  put(17, descriptor(2, JOLIET, sector));
  put(18, Buffer.from(`\xffCD001\x01`, 'latin1'));
  for (const tree of [PRIMARY, JOLIET]) {
    put(tree.paths, pathTable(tree.root, false));
    put(tree.paths + 1, pathTable(tree.root, true));
    put(tree.root, directory(tree, files));
  }
  for (const { sector: at, content } of files) put(at, content);
  return image;
}

function descriptor(type: 1 | 2, tree: Tree, sectors: number): Buffer {
  const block = Buffer.alloc(SECTOR);
  block.writeUInt8(type, 0);
  block.write('CD001\x01', 1, 'latin1');
  tree.text('', 32).copy(block, 8);
  tree.text('cidata', 32).copy(block, 40);
  if (tree === PRIMARY) block.write('CIDATA', 40, 'latin1');
  else block.write('%/E', 88, 'latin1');
  bothEndian32(sectors).copy(block, 80);
  for (const [at, value] of [
    [120, 1],
    [124, 1],
    [128, SECTOR],
  ] as const)
    bothEndian16(value).copy(block, at);
  bothEndian32(10).copy(block, 132);
  block.writeUInt32LE(tree.paths, 140);
  block.writeUInt32BE(tree.paths + 1, 148);
  record(Buffer.from(NUL), tree.root, SECTOR, true).copy(block, 156);
  // The names of volume set, publisher and other fields are blank.
  tree.text('', 622).copy(block, 190);
  for (const at of [813, 830, 847, 864]) block.write('0'.repeat(16) + NUL, at, 'latin1');
  block.writeUInt8(1, 881);
  return block;
}

/** Returns the path table of a tree, which has only a root folder. */
function pathTable(root: number, bigEndian: boolean): Buffer {
  const table = Buffer.alloc(10);
  table.writeUInt8(1, 0);
  if (bigEndian) {
    table.writeUInt32BE(root, 2);
    table.writeUInt16BE(1, 6);
  } else {
    table.writeUInt32LE(root, 2);
    table.writeUInt16LE(1, 6);
  }
  return table;
}

function directory(tree: Tree, files: readonly PlacedFile[]): Buffer {
  const self = [NUL, '\x01'].map((name) => record(Buffer.from(name), tree.root, SECTOR, true));
  const entries = files.map(({ name, sector, content }) => record(tree.fileName(name), sector, content.length, false));
  return Buffer.concat([...self, ...entries]);
}

function record(name: Buffer, sector: number, size: number, isFolder: boolean): Buffer {
  const block = Buffer.alloc(33 + name.length + (name.length % 2 === 0 ? 1 : 0));
  block.writeUInt8(block.length, 0);
  bothEndian32(sector).copy(block, 2);
  bothEndian32(size).copy(block, 10);
  // The date is fixed to 1 January 2000, so that the same files give the same bytes.
  Buffer.from([100, 1, 1, 0, 0, 0, 0]).copy(block, 18);
  block.writeUInt8(isFolder ? 2 : 0, 25);
  bothEndian16(1).copy(block, 28);
  block.writeUInt8(name.length, 32);
  name.copy(block, 33);
  return block;
}

function bothEndian32(value: number): Buffer {
  const block = Buffer.alloc(8);
  block.writeUInt32LE(value, 0);
  block.writeUInt32BE(value, 4);
  return block;
}

function bothEndian16(value: number): Buffer {
  const block = Buffer.alloc(4);
  block.writeUInt16LE(value, 0);
  block.writeUInt16BE(value, 2);
  return block;
}

function bigEndianText(value: string, length: number): Buffer {
  return Buffer.from(value, 'utf16le').swap16().subarray(0, length);
}
