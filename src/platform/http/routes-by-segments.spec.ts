import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import express, { type ErrorRequestHandler, type Express, type Request } from 'express';
import { parseTrusted } from '../../../libs/json/parse-json';
import { type SeededRandom, seededRandom } from '../../../test/harness/seeded-random.cjs';
import { isPlain, rankRoutes, routesBySegments } from './routes-by-segments';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

const DOCUMENT = join(__dirname, '..', '..', '..', 'openapi.json');
const OPERATIONS = Object.entries(
  parseTrusted<{ paths: Record<string, Record<Method, { operationId: string }>> }>(readFileSync(DOCUMENT, 'utf8'))
    .paths,
).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId }]) => ({
    id: operationId,
    method: method as Method,
    path: `/api/v1${path}`.replaceAll(/\{(\w+)\}/g, ':$1'),
  })),
);

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

type Outcomes = WeakMap<IncomingMessage, (outcome: unknown) => void>;
const outcomes: Outcomes = new WeakMap();

/** Serves all operations. Each outcome says everything that a handler can see of the route. */
function appWith(arrange: (app: Express) => void): Express {
  const app = express();
  app.use((_request, _response, next) => next());
  for (const { id, method, path } of OPERATIONS) {
    app[method](path, (request: Request) => {
      const { params, url, baseUrl, originalUrl, route } = request;
      outcomes.get(request)?.({ id, params: { ...params }, url, baseUrl, originalUrl, route: route.path });
    });
  }
  arrange(app);
  app.use((request) => outcomes.get(request)?.({ unknown: request.url, params: { ...request.params } }));
  const failed: ErrorRequestHandler = (error: Error & { status?: number }, request, _response, _next) =>
    outcomes.get(request)?.({ status: error.status, message: error.message });
  app.use(failed);
  return app;
}

/** Tries all routes one after the other, as Express does. */
const tried = appWith(({ router }) => {
  const routes = router.stack.splice(router.stack.findIndex(({ route }) => route));
  router.stack.push(...rankRoutes(routes));
});
const found = appWith((app) => {
  const { stack } = app.router;
  app.use(routesBySegments(rankRoutes(stack.splice(stack.findIndex(({ route }) => route)))));
});
/** Arranges the routes like the adapter. */
const both = appWith((app) => {
  const { stack } = app.router;
  const routes = rankRoutes(stack.splice(stack.findIndex(({ route }) => route)));
  app.use(routesBySegments(routes));
  stack.push(...routes);
});

function outcomeOf(app: Express, method: string, url: string): Promise<unknown> {
  return new Promise((resolve) => {
    const request = Object.assign(new IncomingMessage(new Socket()), { method, url });
    outcomes.set(request, resolve);
    app(request as Request, new ServerResponse(request) as never, () => resolve('answered by nobody'));
  });
}

/** Paths that differ in what a router must look at. */
function variantsOf(path: string, random: SeededRandom): string[] {
  const literals = OPERATIONS.flatMap((operation) => operation.path.split('/')).filter((text) => /^\w/.test(text));
  const filled = (value: () => string) => path.replaceAll(/:\w+/g, value);
  const plain = filled(() => '7');
  return [
    plain,
    `${plain}/`,
    `${plain}//`,
    `${plain}?a=/b`,
    `${plain}#part`,
    `http://host${plain}`,
    `${plain}/more`,
    plain.slice(0, plain.lastIndexOf('/')),
    plain.slice(0, -1),
    plain.toUpperCase(),
    plain.replace('/api/', '//api/'),
    plain.replace(
      /\/(\w)(\w*)$/,
      (_whole, first: string, rest: string) => `/%${first.charCodeAt(0).toString(16)}${rest}`,
    ),
    plain.replaceAll(/k/g, '\u212a'),
    filled(() => 'a%2Fb%20c'),
    filled(() => '%zz'),
    filled(() => 'caf\u00e9'),
    filled(() => ''),
    filled(() => '..'),
    ...Array.from({ length: 4 }, () => filled(() => random.pick(literals))),
  ];
}

describe('routesBySegments', () => {
  it('finds every operation by its path', async () => {
    expect(OPERATIONS.length).toBeGreaterThan(300);
    for (const { id, method, path } of OPERATIONS) {
      const url = path.replaceAll(/:\w+/g, '7');
      expect(await outcomeOf(found, method.toUpperCase(), url)).toMatchObject({ id, route: path, url });
    }
  });

  it('does with every request what Express does', async () => {
    const random = seededRandom(7);
    const different: unknown[] = [];
    const compare = async (app: Express, method: string, url: string, expected: string) => {
      const outcome = JSON.stringify(await outcomeOf(app, method, url));
      if (outcome !== expected) different.push({ method, url, expected, outcome });
    };
    const urls = OPERATIONS.flatMap(({ method, path }) =>
      variantsOf(path, random).map((url) => ({ methods: [method.toUpperCase(), random.pick(METHODS)], url })),
    );
    for (const url of ['/', '//', '', '*', '/?', 'api/v1/version']) urls.push({ methods: METHODS, url });
    for (const { methods, url } of urls) {
      for (const method of methods) {
        const expected = JSON.stringify(await outcomeOf(tried, method, url));
        await compare(both, method, url, expected);
        if (expected.startsWith('{"id"')) await compare(found, method, url, expected);
      }
    }
    expect(different).toEqual([]);
  });

  it.each(['/', '/a/*rest', '/a{/b}', '/a/', ['/a', '/b'], /a/])('leaves the path %p to Express', (path) => {
    expect(isPlain(path)).toBe(false);
  });
});
