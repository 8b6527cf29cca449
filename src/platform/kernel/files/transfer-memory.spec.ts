import { freeTransferred } from './transfer-memory';

const MEBIBYTE = 2 ** 20;
const CHUNK_BYTES = 64 * 1024;

describe('memory of chunks that have passed', () => {
  it('is freed long before V8 would do it by itself', () => {
    // From a state without chunks of earlier tests.
    freeTransferred(64 * MEBIBYTE);
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    for (let passed = 0; passed < 256 * MEBIBYTE; passed += CHUNK_BYTES) {
      const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      freeTransferred(chunk.length);
      if (passed % MEBIBYTE === 0) most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
    expect(most).toBeLessThan(24 * MEBIBYTE);
  });
});
