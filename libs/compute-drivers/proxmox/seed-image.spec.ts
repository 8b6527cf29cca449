import { seedImage } from './seed-image';

const SECTOR = 2048;

/** Reads the files of the image by the names of its Joliet tree, which a mounted image shows. */
function filesOf(image: Buffer): Record<string, string> {
  const root = image.readUInt32LE(17 * SECTOR + 156 + 2) * SECTOR;
  const files: Record<string, string> = {};
  for (let at = root; image.readUInt8(at) > 0; at += image.readUInt8(at)) {
    if ((image.readUInt8(at + 25) & 2) !== 0) continue;
    const name = Buffer.from(image.subarray(at + 33, at + 33 + image.readUInt8(at + 32))).swap16();
    const begin = image.readUInt32LE(at + 2) * SECTOR;
    files[name.toString('utf16le')] = image.toString('utf8', begin, begin + image.readUInt32LE(at + 10));
  }
  return files;
}

describe('seedImage', () => {
  it('has its label and files of any size, and is the same each time', () => {
    const userData = `#!/bin/sh\n# ${'ü'.repeat(9000)}\n`;
    const image = seedImage(userData, 'node-1');
    expect(image.toString('latin1', 16 * SECTOR + 40, 16 * SECTOR + 46)).toBe('CIDATA');
    expect(filesOf(image)).toEqual({ 'meta-data': '{"instance-id":"node-1"}', 'user-data': userData });
    expect([image.length % SECTOR, image.readUInt32LE(16 * SECTOR + 80)]).toEqual([0, image.length / SECTOR]);
    expect(seedImage(userData, 'node-1').equals(image)).toBe(true);
  });
});
