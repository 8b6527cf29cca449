import { type ApplicationDemand, parseApplicationDemand, pendingCores } from './application-demand';

/** The page of a master of Spark 3.5, without its frame. */
const page = (cores: string, limit: string, state: string, executors: number[] = [], removed: number[] = []) => `
    <title>Application: max &lt;strong&gt;Cores:&lt;/strong&gt; 9 (1 granted, 8 left)</title>
          <ul class="list-unstyled">
            <li><strong>ID:</strong> app-20261125132538-0000</li>
            <li><strong>Name:</strong> max &lt;strong&gt;Cores:&lt;/strong&gt; 9 (1 granted, 8 left)</li>
            <li><strong>User:</strong> root</li>
            <li><strong>Cores:</strong>
            ${cores}
            </li>
            <li>
              <span data-toggle="tooltip" title="Maximum number of executors that this application will use. This limit is finite only when
       dynamic allocation is enabled. The number of granted executors may exceed the limit
       ephemerally when executors are being killed.
    " data-placement="top">
                <strong>Executor Limit: </strong>
                ${limit}
              </span>
            </li>
            <li><strong>State:</strong> ${state}</li>
          </ul>
              <a>Executor Summary (${executors.length})</a>
            <table><tbody>
        ${executors.map(row).join('')}
            </tbody></table>
              <a>Removed Executors (${removed.length})</a>
            <table><tbody>${removed.map(row).join('')}</tbody></table>`;

const row = (cores: number, number: number) => `<tr>
      <td>${number}</td>
      <td>
        <a href="http://127.0.0.1:18081">worker-20261125132531-127.0.0.1-37923</a>
      </td>
      <td>${cores}</td>
      <td>512</td>
      <td>0</td>
      <td></td>
      <td>RUNNING</td>
    </tr>`;

const pendingOf = (text: string): number => pendingCores(parseApplicationDemand(text) as ApplicationDemand);

describe('the demand of an application', () => {
  it('is read from the page of the master', () => {
    const text = page('7 (4 granted, 3 left)', 'Unlimited\n                (2 granted)', 'RUNNING', [2, 2], [1]);
    expect(parseApplicationDemand(text)).toEqual({
      isWaiting: false,
      coresLeft: 3,
      executorLimit: null,
      executors: 2,
      coresPerExecutor: 2,
    });
    const waiting = page('Unlimited (0 granted)', '3\n                (0 granted)', 'WAITING');
    expect(parseApplicationDemand(waiting)).toEqual({
      isWaiting: true,
      coresLeft: null,
      executorLimit: 3,
      executors: 0,
      coresPerExecutor: null,
    });
  });

  it.each([
    ['what is left of its limit', '7 (4 granted, 3 left)', 'Unlimited (4 granted)', 'RUNNING', [1, 1, 1, 1], 3],
    ['only whole executors of that', '10 (8 granted, 2 left)', 'Unlimited (2 granted)', 'RUNNING', [4, 4], 0],
    ['all of its limit while it waits', '6 (0 granted, 6 left)', 'Unlimited (0 granted)', 'WAITING', [], 6],
    ['an executor without a limit', 'Unlimited (0 granted)', 'Unlimited (0 granted)', 'WAITING', [], 1],
    ['nothing more without a limit', 'Unlimited (4 granted)', 'Unlimited (2 granted)', 'RUNNING', [2, 2], 0],
    ['the executors of dynamic allocation', 'Unlimited (2 granted)', '4 (1 granted)', 'RUNNING', [2], 6],
    ['no more of these than its limit', '4 (2 granted, 2 left)', '4 (1 granted)', 'RUNNING', [2], 2],
    ['none that it does not want yet', 'Unlimited (0 granted)', '0 (0 granted)', 'WAITING', [], 0],
    ['none while some are being ended', 'Unlimited (6 granted)', '1 (3 granted)', 'RUNNING', [2, 2, 2], 0],
  ])('is %s', (_what, cores, limit, state, executors, pending) => {
    expect(pendingOf(page(cores, limit, state, executors))).toBe(pending);
  });

  it('is null for any other page', () => {
    for (const text of ['', '<html>No running application with ID app-1</html>', page('many', 'Unlimited', 'RUNNING')])
      expect(parseApplicationDemand(text)).toBeNull();
  });
});
