import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { load as parse } from 'js-yaml';
import { type Access, Allow } from '../../../src/platform/kernel/auth/access';
import { EVERY_TENANT_ROLE, type Role, ROLES, WORKSPACE_PERMISSIONS } from '../../../src/platform/kernel/auth/roles';
import { OPERATION_METADATA, type OperationOptions } from '../../../src/platform/http/operation-options';
import type { CallerSpec } from './callers';

/** An access that admits more callers to an operation than its declaration. */
export interface Widening {
  name: string;
  access: Access;
  /** True if the widening probably admits the caller. Such callers go first, because one of them must notice. */
  letsIn: (caller: CallerSpec) => boolean;
}

/** Returns the smallest ways to widen an access, and the widest ones. */
export function wideningsOf(access: Access): Widening[] {
  const everyone: Widening = {
    name: 'public',
    access: Allow.everyone,
    letsIn: ({ badToken }) => badToken !== undefined,
  };
  const signedIn: Widening = {
    name: 'signed in',
    access: Allow.signedIn,
    letsIn: ({ roles, badToken }) => roles.length === 0 && !badToken,
  };
  const member: Widening = {
    name: 'any role of the tenant',
    access: Allow.tenant(),
    letsIn: ({ session, roles, permission }) => session === 'own' && roles.length > 0 && !permission,
  };
  switch (access.kind) {
    case 'public':
    case 'machine':
      return [];
    case 'node':
      return [{ name: 'bootstrap tokens', access: Allow.bootstrap, letsIn: isToken }, signedIn, everyone];
    case 'bootstrap':
      return [{ name: 'nodes', access: Allow.nodes, letsIn: isToken }, signedIn, everyone];
    case 'signed-in':
      return [everyone];
    case 'tenant': {
      // A caller without a tenant has no scope of records either: if every role is admitted, `signed in` is no wider.
      const { roles } = access;
      if (roles === null || EVERY_TENANT_ROLE.every((role) => roles.includes(role))) return [everyone];
      return [...withFurtherRole({ kind: 'tenant', roles }), member, signedIn];
    }
    case 'platform':
      return [...withFurtherRole(access), signedIn, everyone];
    case 'workspace': {
      const lower = WORKSPACE_PERMISSIONS.slice(0, WORKSPACE_PERMISSIONS.indexOf(access.permission));
      const widened = lower.map((level): Widening => ({
        name: level,
        access: Allow.workspace(level),
        letsIn: ({ permission }) => permission?.level === level,
      }));
      return [...widened, member, signedIn];
    }
  }
}

function withFurtherRole({ kind, roles }: { kind: 'tenant' | 'platform'; roles: readonly Role[] }): Widening[] {
  return ROLES.filter((role) => !roles.includes(role)).map((role) => ({
    name: `also ${role}`,
    access: { kind, roles: [...roles, role] },
    letsIn: (caller) => caller.roles.some((held) => held.role === role),
  }));
}

function isToken({ badToken }: CallerSpec): boolean {
  return badToken === 'of a node' || badToken === 'that is a bootstrap token';
}

/** The access declarations of the running API, which the guard reads at every request. */
export class Declarations {
  private readonly handlers = new Map<string, object>();

  constructor(app: INestApplication) {
    const scanner = app.get(MetadataScanner, { strict: false });
    for (const { metatype } of app.get(DiscoveryService, { strict: false }).getControllers()) {
      const prototype = (metatype as { prototype?: Record<string, unknown> } | null)?.prototype;
      for (const name of prototype ? scanner.getAllMethodNames(prototype) : []) {
        const handler = prototype?.[name];
        if (typeof handler !== 'function') continue;
        const options = Reflect.getMetadata(OPERATION_METADATA, handler) as OperationOptions | undefined;
        if (options) this.handlers.set(options.id, handler);
      }
    }
  }

  all(): OperationOptions[] {
    return [...this.handlers.keys()].map((id) => this.optionsOf(id));
  }

  accessOf(id: string): Access {
    return this.optionsOf(id).access;
  }

  /** Runs `fn` while the operation declares another access. */
  async declaring<T>(id: string, access: Access, fn: () => Promise<T>): Promise<T> {
    const options = this.optionsOf(id);
    Reflect.defineMetadata(OPERATION_METADATA, { ...options, access }, this.handlerOf(id));
    try {
      return await fn();
    } finally {
      Reflect.defineMetadata(OPERATION_METADATA, options, this.handlerOf(id));
    }
  }

  private optionsOf(id: string): OperationOptions {
    return Reflect.getMetadata(OPERATION_METADATA, this.handlerOf(id)) as OperationOptions;
  }

  private handlerOf(id: string): object {
    const handler = this.handlers.get(id);
    if (!handler) throw new Error(`No handler declares the operation ${id}`);
    return handler;
  }
}

/** Patterns of the places of second-lines.yaml, each with its text. */
export function readSecondLines(): { text: string; pattern: RegExp }[] {
  const groups = parse(readFileSync(join(__dirname, 'second-lines.yaml'), 'utf8')) as { conditions: string[] }[];
  return groups.flatMap(({ conditions }) =>
    conditions.map((text) => {
      const parts = text.split('*').map((part) => part.replaceAll(/[.?()]/g, String.raw`\$&`));
      return { text, pattern: new RegExp(`^${parts.join('.*')}$`) };
    }),
  );
}
