/** All texts of the console, in one place for translation. Texts with values are functions. */
export const texts = {
  product: 'Spark Platform',
  nav: {
    label: 'Main',
    runs: 'Runs',
    clusters: 'Clusters',
    docs: 'API documentation',
    skip: 'Skip to the content',
    find: 'Find or do…',
  },
  theme: { label: 'Appearance', auto: 'System', light: 'Light', dark: 'Dark' },
  session: {
    title: 'Log in',
    username: 'User name',
    password: 'Password',
    submit: 'Log in',
    sso: 'Log in at your provider',
    expired: 'Your session has ended. Log in again.',
    logout: 'Log out',
    logoutEverywhere: 'Log out everywhere',
    account: 'Your account',
    unreachable: 'The server does not answer',
    again: 'Try again',
  },
  tenant: {
    label: 'Tenant',
    none: 'No tenant selected',
    choose: 'Choose a tenant',
    chooseHint: 'You hold roles in several tenants. Choose the one to work in; you can switch at any time.',
    noneHint: 'You hold no role in any tenant yet. An administrator can give you one.',
  },
  problem: {
    title: 'That did not work',
    code: 'Code',
    correlation: 'Correlation id',
    copy: 'Copy',
    copied: 'Copied',
    retry: 'Try again',
    unexpected: 'The page has failed',
  },
  time: { never: '–', justNow: 'just now' },
  runs: {
    title: 'Runs',
    search: 'Search by name',
    workspace: 'Workspace',
    allWorkspaces: 'All workspaces',
    status: 'Status',
    type: 'Type',
    clear: 'Clear filters',
    loading: 'Loading runs',
    count: (total: number, isLowerBound: boolean) =>
      `${number(total)}${isLowerBound ? '+' : ''} ${total === 1 ? 'run' : 'runs'}`,
    columns: {
      run: 'Run',
      status: 'Status',
      started: 'Submitted',
      duration: 'Duration',
      by: 'By',
      cluster: 'Cluster',
      workspace: 'Workspace',
      type: 'Type',
    },
    emptyTitle: 'No runs yet',
    emptyHint:
      'A run is one execution of a job. Upload a script, define a job for it, and submit the job; with the Python client:',
    filteredTitle: 'No run matches these filters',
    filteredHint: 'Remove a filter, or search for another name.',
    emptyExample: 'workspace = Client().workspace("demo")\nrun = workspace.run("job.py", cluster="demo")',
  },
} as const;

export function number(value: number): string {
  return value.toLocaleString('en-US');
}
