import { countEach, pack, spread } from './slots';

const nodes = (...busy: number[]) => busy.map((busy_slots, index) => ({ node_id: index + 1, busy_slots }));

describe('spread', () => {
  it.each([
    { what: 'nothing without a node', nodes: nodes(), max: 3, limit: 5, assigned: [] },
    { what: 'one run to the first', nodes: nodes(0, 0), max: 3, limit: 1, assigned: [1] },
    { what: 'to the emptiest until they are equal', nodes: nodes(0, 2), max: 3, limit: 9, assigned: [1, 1, 1, 2] },
    { what: 'level by level', nodes: nodes(1, 1, 2), max: 3, limit: 9, assigned: [1, 2, 1, 2, 3] },
    { what: 'no more than the limit', nodes: nodes(0, 0, 0), max: 9, limit: 4, assigned: [1, 2, 3, 1] },
    { what: 'nothing if all slots are taken', nodes: nodes(3), max: 3, limit: 2, assigned: [] },
    { what: 'a huge limit of the cluster', nodes: nodes(0), max: 2 ** 31, limit: 2, assigned: [1, 1] },
  ])('gives $what', ({ nodes: free, max, limit, assigned }) => {
    expect(spread(free, max, limit)).toEqual(assigned);
  });
});

it('counts the occurrences of each node', () => {
  expect([...countEach([1, 2, 1], -1)]).toEqual([
    [1, -2],
    [2, -1],
  ]);
});

describe('pack', () => {
  it.each([
    { what: 'nothing without a node', nodes: nodes(), limit: 5, assigned: [] },
    { what: 'the fullest node first', nodes: nodes(2, 1, 0), limit: 2, assigned: [1, 2] },
    { what: 'one node after the other', nodes: nodes(0, 0), limit: 4, assigned: [1, 1, 1, 2] },
    { what: 'no more than there are slots', nodes: nodes(2, 2), limit: 9, assigned: [1, 2] },
  ])('gives $what', ({ nodes: free, limit, assigned }) => {
    expect(pack(free, 3, limit)).toEqual(assigned);
  });
});
