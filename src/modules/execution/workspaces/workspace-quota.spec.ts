import { WorkspaceQuota } from './workspace-quota';

const EXCEEDED = expect.objectContaining({ kind: 'too-large', code: 'WORKSPACE.QUOTA_EXCEEDED' }) as Error;

describe('the quota of a workspace', () => {
  let quota: WorkspaceQuota;

  beforeEach(() => (quota = new WorkspaceQuota(100)));

  it('is reduced by its files', () => {
    const claim = quota.claim(1, 60);
    claim.reserve(40);
    expect(() => claim.reserve(41)).toThrow(EXCEEDED);
  });

  it('is shared by the uploads under way, each counted once', () => {
    const [first, second] = [quota.claim(1, 0), quota.claim(1, 0)];
    first.reserve(30);
    first.reserve(60);
    second.reserve(40);
    expect(() => second.reserve(41)).toThrow(EXCEEDED);
    quota.claim(2, 0).reserve(100);
    first.end(0);
    second.reserve(100);
  });

  it('is reduced by the kept bytes of an upload, also for uploads that began earlier', () => {
    const [first, second] = [quota.claim(1, 0), quota.claim(1, 0)];
    first.reserve(60);
    first.end(60);
    expect(() => second.reserve(41)).toThrow(EXCEEDED);
    const third = quota.claim(1, 60);
    expect(() => third.reserve(41)).toThrow(EXCEEDED);
    third.reserve(40);
    third.end(0);
    second.end(0);
    quota.claim(1, 0).reserve(100);
  });

  it('is unlimited without a setting', () => {
    new WorkspaceQuota(null).claim(1, 0).reserve(Number.MAX_SAFE_INTEGER);
  });
});
