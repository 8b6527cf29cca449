import 'reflect-metadata';
import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Allow } from '../kernel/auth/access';
import { Responses, Operation } from './operation';
import type { OperationOptions } from './operation-options';
import { RankedRoutesAdapter } from './ranked-routes.adapter';
import { assertDistinctRoutes } from './route-ranks';

type Route = Pick<OperationOptions, 'path'> & Partial<OperationOptions>;

function operation(route: Route): OperationOptions {
  const { path, method = 'GET' } = route;
  const id = `${method} ${path}`;
  return { id, method, summary: '', tag: '', access: Allow.everyone, response: Responses.message, ...route };
}

describe('assertDistinctRoutes', () => {
  const check = (...routes: Route[]) => assertDistinctRoutes(routes.map(operation));

  it.each<[string, Route, Route]>([
    ['only the names of their parameters', { path: '/a/{x}' }, { path: '/a/{y}' }],
    ['nothing but their ids', { path: '/a' }, { path: '/a', id: 'other' }],
    ['the case of a literal, which Express ignores', { path: '/a/B/{x}' }, { path: '/a/b/{x}' }],
  ])('refuses two that differ in %s', (_what, one, other) => {
    expect(() => check(one, other)).toThrow('could both match');
  });

  it.each<[string, Route, Route]>([
    ['a literal against a parameter', { path: '/a/{x}' }, { path: '/a/b' }],
    ['the leftmost literal first', { path: '/a/{x}/c' }, { path: '/a/b/{y}' }],
    ['another method', { path: '/a/{x}' }, { path: '/a/{y}', method: 'PUT' }],
    ['another length', { path: '/a/{x}' }, { path: '/a/{y}/{z}' }],
    ['the API of agents', { path: '/a/{x}' }, { path: '/a/{y}', access: Allow.nodes }],
  ])('accepts %s', (_what, one, other) => {
    expect(() => check(one, other)).not.toThrow();
  });

  it.each(['/a/*rest', '/a{/b}', 'a', '/a/', '/a//b', '/a/:x', '/a/{x}.json', '/a/(b)'])(
    'refuses the path %s',
    (path) => {
      expect(() => check({ path })).toThrow('A path consists of');
    },
  );
});

describe('routes', () => {
  const route = (path: string) => Operation(operation({ path }));

  @Controller()
  class Wide {
    @route('/{x}/{y}') any() {
      return 'any';
    }
    @route('/a/{x}/c') middle() {
      return 'middle';
    }
    @route('/a/{x}') parameter() {
      return 'parameter';
    }
  }

  @Controller()
  class Narrow {
    @route('/a/b/{y}') left() {
      return 'left';
    }
    @route('/a/b') literal() {
      return 'literal';
    }
    @route('/{x}/b') right() {
      return 'right';
    }
  }

  @Module({ controllers: [Wide, Narrow] })
  class Routes {}

  it.each([
    ['/a/b', 'literal'],
    ['/A/B/', 'literal'],
    ['/a/z', 'parameter'],
    ['/z/b', 'right'],
    ['/z/z', 'any'],
    ['/a/b/c', 'left'],
    ['/a/z/c', 'middle'],
  ])('that match %s: %s comes first, wherever it is declared', async (path, expected) => {
    const app = await NestFactory.create(Routes, new RankedRoutesAdapter(), { logger: false, abortOnError: false });
    try {
      await app.listen(0, '127.0.0.1');
      const answer = await fetch(`${await app.getUrl()}${path}`);
      expect(await answer.text()).toBe(expected);
    } finally {
      await app.close();
    }
  });
});
