import type { Config } from '../../../../config/config';
import { PermanentError } from '../../../../platform/background/workflows/workflow-definition';
import { agentTokenHash, BootstrapTokens } from './bootstrap-tokens';

const key = (fill: number) => ({ id: `k${fill}`, key: Buffer.alloc(32, fill) });
const tokensBy = (...fills: number[]) =>
  new BootstrapTokens({ secrets: { masterKeys: fills.map(key) } } as unknown as Config);

describe('bootstrap tokens', () => {
  const first = { token: 'a', attempt: 1 };
  const planned = (tokens: BootstrapTokens) => ({
    ...{ ...first, node_number: 3, bootstrap_token: null },
    bootstrap_token_hash: agentTokenHash(tokens.make(first)),
  });

  it('follow from node, attempt and key, and from nothing else', () => {
    expect(tokensBy(1).make(first)).toBe(tokensBy(1).make({ ...first }));
    const others = [
      tokensBy(1).make({ ...first, token: 'b' }),
      tokensBy(1).make({ ...first, attempt: 2 }),
      tokensBy(2).make(first),
    ];
    expect(new Set([tokensBy(1).make(first), ...others]).size).toBe(4);
    expect(tokensBy(1).make(first)).toMatch(/^[\w-]{43}$/);
  });

  it('are made again with the key that they were made with, as long as it is there', () => {
    const node = planned(tokensBy(1));
    const token = tokensBy(1).make(first);
    expect([tokensBy(1), tokensBy(2, 1)].map((tokens) => tokens.again(node))).toEqual([token, token]);
    expect(() => tokensBy(2).again(node)).toThrow(PermanentError);
    expect(() => tokensBy(2).again(node)).toThrow(/Node 3 .* SECRETS_MASTER_KEYS/);
  });

  it('are made again for a node that has spent its own, which is only being looked for', () => {
    const spent = { ...planned(tokensBy(1)), bootstrap_token_hash: null };
    expect(tokensBy(1).again(spent)).toBe(tokensBy(1).make(first));
  });

  it('of an earlier release are those that it kept', () => {
    expect(tokensBy(1).again({ ...planned(tokensBy(2)), bootstrap_token: 'kept' })).toBe('kept');
  });
});
