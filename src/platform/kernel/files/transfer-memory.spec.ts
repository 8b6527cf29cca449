import { freeTransferred } from './transfer-memory';

const MEBIBYTE = 2 ** 20;
const CHUNK_BYTES = 64 * 1024;

describe('memory of transferred chunks', () => {
  it('is freed long before V8 would free it', () => {
    // This frees the chunks of earlier tests.
    freeTransferred(64 * MEBIBYTE);
    const before = process.memoryUsage().arrayBuffers;
    let peak = 0;
    for (let passed = 0; passed < 256 * MEBIBYTE; passed += CHUNK_BYTES) {
      const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      freeTransferred(chunk.length);
      if (passed % MEBIBYTE === 0) peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
    }
    expect(peak).toBeLessThan(24 * MEBIBYTE);
  });
});
