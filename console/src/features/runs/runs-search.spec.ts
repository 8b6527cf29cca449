import { readRunsSearch } from './runs-search';

describe('the filters of an address', () => {
  it('are read', () => {
    expect(
      readRunsSearch({ workspace: '7', status: 'ERROR,KILLED', q: 'load', sort: 'duration', order: 'asc' }),
    ).toEqual({ workspace: 7, status: ['ERROR', 'KILLED'], q: 'load', sort: 'duration', order: 'asc' });
  });

  it('are left out unless they are valid', () => {
    const nonsense = {
      workspace: '7 OR 1',
      cluster: '-1',
      status: 'GONE',
      q: '',
      sort: 'price',
      order: 'up',
      other: '1',
    };
    expect(readRunsSearch(nonsense)).toEqual({});
  });
});
