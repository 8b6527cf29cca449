import './shared/nonce';
import './shared/language';
import { sessionQuery } from './shared/records';
import './shared/theme/styles';
import { MantineProvider } from '@mantine/core';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { Forbidden, Unauthenticated } from 'managed-spark/core';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { makeRouter } from './app/router';
import { forgetUser } from './features/session/session-api';
import { nonce } from './shared/nonce';
import { cssVariables, theme } from './shared/theme/theme';
import { refuseMarkup } from './shared/trusted-types';

refuseMarkup();

/** A session that has ended leads to the login, wherever it is noticed. */
const onError = (error: unknown) => {
  if (error instanceof Unauthenticated) forgetUser(queries);
};

const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({
    onError: (error) => {
      // A refused login is no ended session.
      if (queries.getQueryData(sessionQuery.queryKey)) onError(error);
      // The rights of the user are others than the screen knows.
      if (error instanceof Forbidden) void queries.invalidateQueries({ queryKey: ['rights'] });
    },
  }),
  defaultOptions: {
    // The client repeats requests itself, as far as that may help.
    queries: { staleTime: 2_000, retry: false },
    mutations: { retry: false },
  },
});

// The session is requested while the rest is still loading.
void queries.prefetchQuery(sessionQuery);

const router = makeRouter(queries);
const container = document.getElementById('root');
if (!container) throw new Error('The page has no element for the console');

createRoot(container).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
