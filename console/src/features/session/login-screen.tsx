import { Button, PasswordInput, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import logo from '../../shared/logo.svg';
import { ProblemPanel } from '../../shared/problem-panel';
import { sessionQuery } from '../../shared/records';
import { texts } from '../../shared/texts';
import styles from './login-screen.module.css';
import { authTypeQuery, logIn } from './session-api';

export function LoginScreen(): ReactNode {
  const queries = useQueryClient();
  const { data: auth } = useQuery(authTypeQuery);
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const login = useMutation({
    mutationFn: logIn,
    onSuccess: async (provider) => {
      if (provider === null) await queries.invalidateQueries({ queryKey: sessionQuery.queryKey });
      else location.assign(provider);
    },
  });
  useEffect(() => {
    document.title = `${texts.session.title} · ${texts.product}`;
  }, []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    login.mutate({ username, password });
  };
  return (
    <main className={styles['screen']}>
      <div className={styles['card']}>
        <header className={styles['header']}>
          <img src={logo} alt="" width={36} height={36} />
          <h1 className={styles['title']}>{texts.product}</h1>
        </header>
        {auth?.auth_type === 'AZURE_SSO' && (
          <Button size="sm" fullWidth onClick={() => login.mutate({})} loading={login.isPending}>
            {texts.session.sso}
          </Button>
        )}
        <form className={styles['form']} onSubmit={submit}>
          <TextInput
            size="sm"
            label={texts.session.username}
            value={username}
            onChange={(event) => setUsername(event.currentTarget.value)}
            autoComplete="username"
            autoFocus
            required
            withAsterisk={false}
          />
          <PasswordInput
            size="sm"
            label={texts.session.password}
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            autoComplete="current-password"
            required
            withAsterisk={false}
          />
          <Button type="submit" size="sm" fullWidth loading={login.isPending}>
            {texts.session.submit}
          </Button>
        </form>
        {login.isError && <ProblemPanel error={login.error} />}
      </div>
    </main>
  );
}
