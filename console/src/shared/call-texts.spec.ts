import { type Call, curlOf, pythonOf } from './call-texts';

const RUN: Call = {
  operation: { name: 'getRunCost', path: '/api/v1/workspace/{workspace_id}/run/{run_id}/cost' },
  path: { workspace_id: 3, run_id: 17 },
};
const LIST: Call = {
  operation: { name: 'listCosts', path: '/api/v1/costs' },
  query: { from: '2026-11-01', by: "o'k", cluster_ids: [7, 8], workspace_id: undefined },
};

describe('a request of the API', () => {
  it('is a command of curl, which a shell reads as one address', () => {
    expect(curlOf('https://spark.example.com', RUN)).toBe(
      `curl -fsS 'https://spark.example.com/api/v1/workspace/3/run/17/cost' -H "Authorization: Bearer $TOKEN"`,
    );
    expect(curlOf('', { ...RUN, path: { workspace_id: "'; rm", run_id: 17 } })).toContain(
      `/workspace/%27%3B%20rm/run/17/cost'`,
    );
    expect(curlOf('', LIST)).toContain(`'/api/v1/costs?from=2026-11-01&by=o%27k&cluster_ids=7&cluster_ids=8'`);
  });

  it('is a program with the Python SDK', () => {
    expect(pythonOf(RUN)).toContain('client.call(operations.get_run_cost, {"workspace_id": 3, "run_id": 17})');
    expect(pythonOf(LIST)).toContain(
      `client.call(operations.list_costs, query={"from": "2026-11-01", "by": "o'k", "cluster_ids": [7, 8]})`,
    );
  });
});
