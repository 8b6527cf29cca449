import { reservedReason } from './reserved';

const served = (...ids: number[]) => ids.map((id) => ({ workspace_id: id, name: `w${id}` }));

describe('a cluster', () => {
  it('serves every workspace until it is reserved for some', () => {
    expect(reservedReason([], 1)).toBeNull();
    expect(reservedReason(served(2, 1), 1)).toBeNull();
  });

  it('names the workspaces for which it is reserved', () => {
    expect(reservedReason(served(2), 1)).toBe(
      'Reserved for other workspaces: w2. Ask a cluster manager to associate this one.',
    );
    expect(reservedReason(served(2, 3, 4, 5, 6), 1)).toMatch(/w2, w3, w4 and 2 more\./);
  });
});
