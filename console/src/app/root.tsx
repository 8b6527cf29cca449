import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { LoginScreen } from '../features/session/login-screen';
import { ProblemPanel } from '../shared/problem-panel';
import { sessionQuery } from '../shared/records';
import { texts } from '../shared/texts';
import { Shell } from './shell';

/** The login until somebody is signed in, and then the shell. */
export function Root(): ReactNode {
  const { data: user, error, refetch } = useQuery(sessionQuery);
  if (user) return <Shell user={user} />;
  if (user === null) return <LoginScreen />;
  if (!error) return null;
  return <ProblemPanel error={error} title={texts.session.unreachable} onRetry={() => void refetch()} />;
}
