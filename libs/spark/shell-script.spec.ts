import { shellScript } from './shell-script';

describe('shellScript', () => {
  it.each([
    ['\uFEFF#!/bin/bash\r\nset -e\r\necho booted\r\n', '#!/bin/bash\nset -e\necho booted\n'],
    ['set -e\r\nprintf "a\\r\\n"', 'set -e\nprintf "a\\r\\n"'],
    ['#!/bin/sh\ncat <<X\na\r\nX\n', '#!/bin/sh\ncat <<X\na\r\nX\n'],
    ['true\r', 'true\r'],
  ])('of %j a shell runs %j', (text, script) => expect(shellScript(text)).toBe(script));
});
