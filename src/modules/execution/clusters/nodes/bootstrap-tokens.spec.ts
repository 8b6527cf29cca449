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
    bootstrap_token_hash: agentTokenHash(tokens.create(first)),
  });

  it('depend on node, attempt and key only', () => {
    expect(tokensBy(1).create(first)).toBe(tokensBy(1).create({ ...first }));
    const others = [
      tokensBy(1).create({ ...first, token: 'b' }),
      tokensBy(1).create({ ...first, attempt: 2 }),
      tokensBy(2).create(first),
    ];
    expect(new Set([tokensBy(1).create(first), ...others]).size).toBe(4);
    expect(tokensBy(1).create(first)).toMatch(/^[\w-]{43}$/);
  });

  it('are derived again with the key of their creation while it is configured', () => {
    const node = planned(tokensBy(1));
    const token = tokensBy(1).create(first);
    expect([tokensBy(1), tokensBy(2, 1)].map((tokens) => tokens.recreate(node))).toEqual([token, token]);
    expect(() => tokensBy(2).recreate(node)).toThrow(PermanentError);
    expect(() => tokensBy(2).recreate(node)).toThrow(/Node 3 .* SECRETS_MASTER_KEYS/);
  });

  it('are derived again for a node that has spent its own, so that its machine can be looked up', () => {
    const spent = { ...planned(tokensBy(1)), bootstrap_token_hash: null };
    expect(tokensBy(1).recreate(spent)).toBe(tokensBy(1).create(first));
  });

  it('of an earlier release are the stored ones', () => {
    expect(tokensBy(1).recreate({ ...planned(tokensBy(2)), bootstrap_token: 'kept' })).toBe('kept');
  });
});
