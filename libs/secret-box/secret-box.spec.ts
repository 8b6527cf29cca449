import { randomBytes } from 'node:crypto';
import { SecretBox, SecretBoxError, type SecretBoxFault } from './secret-box';

const oldKey = { id: '2025', key: randomBytes(32) };
const newKey = { id: '2026', key: randomBytes(32) };
const secret = Buffer.from('{"PASSWORD":"correct horse"}');

function faultOf(fn: () => unknown): SecretBoxFault | 'none' {
  try {
    fn();
    return 'none';
  } catch (error) {
    if (!(error instanceof SecretBoxError)) throw error;
    expect(error.message).not.toContain('horse');
    return error.fault;
  }
}

describe('SecretBox', () => {
  const box = new SecretBox([oldKey]);
  const dataKey = box.createDataKey();
  const sealed = box.seal(dataKey, secret, 'tenant/table/1');

  it('opens what it sealed, and seals differently each time', () => {
    expect(box.open(dataKey, sealed, 'tenant/table/1')).toEqual(secret);
    expect(box.seal(dataKey, secret, 'tenant/table/1')).not.toEqual(sealed);
    expect(sealed.includes(Buffer.from('horse'))).toBe(false);
    expect(box.open(dataKey, box.seal(dataKey, Buffer.alloc(0), 'a'), 'a')).toHaveLength(0);
  });

  it('notices a change of any byte', () => {
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(index) ^ 1, index);
      expect(faultOf(() => box.open(dataKey, changed, 'tenant/table/1'))).not.toBe('none');
    }
  });

  it('notices any shortening', () => {
    for (let length = 0; length < sealed.length; length += 1) {
      expect(faultOf(() => box.open(dataKey, sealed.subarray(0, length), 'tenant/table/1'))).not.toBe('none');
    }
  });

  it('opens only where the secret was sealed for', () => {
    expect(faultOf(() => box.open(dataKey, sealed, 'tenant/table/2'))).toBe('not-authentic');
    expect(faultOf(() => box.unwrapKey(box.wrapKey(dataKey, 'tenant'), 'other tenant'))).toBe('not-authentic');
  });

  it('distinguishes another data key from a changed secret', () => {
    expect(faultOf(() => box.open(box.createDataKey(), sealed, 'tenant/table/1'))).toBe('unknown-key');
  });

  it('refuses bytes that are not a box', () => {
    expect(faultOf(() => box.open(dataKey, Buffer.alloc(0), 'a'))).toBe('malformed');
    expect(faultOf(() => box.open(dataKey, Buffer.from('plain text'), 'a'))).toBe('malformed');
  });

  it('keeps data keys across a rotation of the master key', () => {
    const wrapped = box.wrapKey(dataKey, 'tenant');
    const rotating = new SecretBox([newKey, oldKey]);
    expect(rotating.currentKeyId).toBe('2026');
    const rewrapped = rotating.wrapKey(rotating.unwrapKey(wrapped, 'tenant'), 'tenant');
    const rotated = new SecretBox([newKey]);
    expect(rotated.open(rotated.unwrapKey(rewrapped, 'tenant'), sealed, 'tenant/table/1')).toEqual(secret);
    expect(faultOf(() => rotated.unwrapKey(wrapped, 'tenant'))).toBe('unknown-key');
  });

  it('notices a master key whose content was swapped under the same id', () => {
    const wrapped = box.wrapKey(dataKey, 'tenant');
    const swapped = new SecretBox([{ id: '2025', key: randomBytes(32) }]);
    expect(faultOf(() => swapped.unwrapKey(wrapped, 'tenant'))).toBe('not-authentic');
  });

  it('refuses an unusable key ring', () => {
    expect(() => new SecretBox([])).toThrow('At least one master key');
    expect(() => new SecretBox([{ id: 'short', key: randomBytes(16) }])).toThrow('Master key short is not 32 bytes');
    expect(() => new SecretBox([oldKey, { ...newKey, id: '2025' }])).toThrow('same id');
  });
});
