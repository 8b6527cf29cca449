export const RUN_TABS = ['log', 'stages', 'history', 'configuration'] as const;
export type RunTab = (typeof RUN_TABS)[number];

const STREAMS = ['stdout', 'stderr', 'events'] as const;

/** The part of a run that is shown, as it is in the address. */
export interface RunSearch {
  tab?: RunTab;
  stream?: (typeof STREAMS)[number];
}

export function readRunSearch({ tab, stream }: Record<string, unknown>): RunSearch {
  const [shown, output] = [RUN_TABS.find((one) => one === tab), STREAMS.find((one) => one === stream)];
  return { ...(shown ? { tab: shown } : {}), ...(output ? { stream: output } : {}) };
}
