import type { ClusterNodeStateEvent } from 'managed-spark/types';
import { nodeLives } from './node-lives';

const event = (id: number, number: number, state: string) =>
  ({ node_status_id: id, node_number: number, node_status: state, start_time: `at ${id}` }) as ClusterNodeStateEvent;

describe('nodeLives', () => {
  it('finds the nodes that had one number after the other', () => {
    const lives = nodeLives([
      event(7, 0, 'RUNNING'),
      event(6, 1, 'ERROR'),
      event(5, 0, 'INITIATING'),
      event(4, 1, 'INITIATING'),
      event(3, 0, 'DESTROYED'),
      event(2, 0, 'RUNNING'),
      event(1, 0, 'INITIATING'),
    ]);
    expect(lives).toEqual([
      { number: 0, states: [7, 5], state: 'RUNNING', since: 'at 7', isAlive: true },
      { number: 1, states: [6, 4], state: 'ERROR', since: 'at 6', isAlive: true },
      { number: 0, states: [3, 2, 1], state: 'DESTROYED', since: 'at 3', isAlive: false },
    ]);
  });
});
