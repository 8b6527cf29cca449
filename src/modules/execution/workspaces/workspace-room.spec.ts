import { WorkspaceRoom } from './workspace-room';

const EXCEEDED = expect.objectContaining({ kind: 'too-large', code: 'WORKSPACE.QUOTA_EXCEEDED' }) as Error;

describe('the room of a workspace', () => {
  let room: WorkspaceRoom;

  beforeEach(() => (room = new WorkspaceRoom(100)));

  it('is what its files leave', () => {
    const claim = room.claim(1, 60);
    claim.hold(40);
    expect(() => claim.hold(41)).toThrow(EXCEEDED);
  });

  it('is shared by the uploads under way, each counted once', () => {
    const [first, second] = [room.claim(1, 0), room.claim(1, 0)];
    first.hold(30);
    first.hold(60);
    second.hold(40);
    expect(() => second.hold(41)).toThrow(EXCEEDED);
    room.claim(2, 0).hold(100);
    first.end(0);
    second.hold(100);
  });

  it('is taken by what an upload has kept, for those that began before it did', () => {
    const [first, second] = [room.claim(1, 0), room.claim(1, 0)];
    first.hold(60);
    first.end(60);
    expect(() => second.hold(41)).toThrow(EXCEEDED);
    const third = room.claim(1, 60);
    expect(() => third.hold(41)).toThrow(EXCEEDED);
    third.hold(40);
    third.end(0);
    second.end(0);
    room.claim(1, 0).hold(100);
  });

  it('has no end without a quota', () => {
    new WorkspaceRoom(null).claim(1, 0).hold(Number.MAX_SAFE_INTEGER);
  });
});
