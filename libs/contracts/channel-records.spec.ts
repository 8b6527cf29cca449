import {
  decodeFileHeader,
  decodeRecords,
  encodeFileRecord,
  encodeRecords,
  MAX_PAYLOAD_BYTES,
  MalformedRecords,
} from './channel-records';

describe('records of channels', () => {
  const records = [
    { number: 7, payload: Buffer.from('seven') },
    { number: 8, payload: Buffer.alloc(0) },
    { number: 9, payload: Buffer.alloc(70_000, 9) },
  ];

  it('decode to what was encoded', () => {
    expect(decodeRecords(encodeRecords(records))).toEqual(records);
    expect(decodeRecords(Buffer.alloc(0))).toEqual([]);
    const payload = Buffer.from('x');
    const number = Number.MAX_SAFE_INTEGER;
    expect(decodeFileHeader(encodeFileRecord({ number, ack: 5, payload }))).toEqual({ number, ack: 5, length: 1 });
  });

  it('are refused if they are truncated', () => {
    const body = encodeRecords(records.slice(0, 2));
    const whole = [0, 17, 29];
    for (let length = 0; length < body.length; length += 1) {
      if (whole.includes(length)) continue;
      expect(() => decodeRecords(body.subarray(0, length))).toThrow(MalformedRecords);
    }
  });

  it('are refused with a gap, or with a length or a number above the limit', () => {
    const [first, , third] = records as [(typeof records)[0], (typeof records)[0], (typeof records)[0]];
    expect(() => decodeRecords(encodeRecords([first, third]))).toThrow('gap');
    const long = Buffer.alloc(12);
    long.writeUInt32BE(MAX_PAYLOAD_BYTES + 1);
    expect(() => decodeRecords(long)).toThrow('longer');
    expect(() => decodeRecords(Buffer.concat([Buffer.alloc(4), Buffer.alloc(8, 0xff)]))).toThrow('too large');
  });

  it('have no header if the bytes are malformed', () => {
    expect(decodeFileHeader(Buffer.alloc(24))).toBeNull();
    expect(decodeFileHeader(Buffer.alloc(3))).toBeNull();
    const tooLong = encodeFileRecord({ number: 1, ack: 1, payload: Buffer.alloc(0) });
    tooLong.writeUInt32BE(MAX_PAYLOAD_BYTES + 1, 4);
    expect(decodeFileHeader(tooLong)).toBeNull();
  });
});
