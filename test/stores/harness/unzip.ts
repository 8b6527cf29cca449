import { inflateRawSync } from 'node:zlib';

const END = 0x06054b50;
const CENTRAL = 0x02014b50;

/** Returns the files of a zip archive by name; throws if its end is missing. Supports at most 65535 entries and 4 GiB. */
export function unzip(zip: Buffer): Map<string, string> {
  const end = zip.length - 22;
  if (zip.length < 22 || zip.readUInt32LE(end) !== END) throw new Error('The zip file has no end');
  const found = new Map<string, string>();
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (zip.readUInt32LE(at) !== CENTRAL) throw new Error('The directory of the zip file is broken');
    const [method, packed] = [zip.readUInt16LE(at + 10), zip.readUInt32LE(at + 20)];
    const [name, extra, comment] = [28, 30, 32].map((field) => zip.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ];
    const local = zip.readUInt32LE(at + 42);
    const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const data = zip.subarray(start, start + packed);
    const key = zip.toString('utf8', at + 46, at + 46 + name);
    found.set(key, (method === 0 ? data : inflateRawSync(data)).toString());
    at += 46 + name + extra + comment;
  }
  return found;
}
