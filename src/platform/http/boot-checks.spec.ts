import 'reflect-metadata';
import { Controller, Get, type Type } from '@nestjs/common';
import { type DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import { Allow } from '../kernel/auth/access';
import { declaredOperations } from './boot-checks';
import { Responses, Operation } from './operation';
import { Upgrade } from './upgrades/upgrade';
import type { UpgradeHandler } from './upgrades/upgrades';

const shared = { summary: '', tag: '' };
const handler: UpgradeHandler = () => undefined;

function check(...controllers: Type[]): string[] {
  const discovery = { getControllers: () => controllers.map((metatype) => ({ metatype })) };
  const operations = declaredOperations(discovery as DiscoveryService, new MetadataScanner(), new Reflector());
  return operations.map(({ id }) => id);
}

describe('declaredOperations', () => {
  @Controller()
  class Proper {
    @Upgrade({ ...shared, path: '/a/{x}', id: 'upgrade', access: Allow.signedIn }) upgrade() {
      return handler;
    }
  }

  it('includes upgrades', () => {
    expect(check(Proper)).toEqual(['upgrade']);
  });

  it('refuses a route that declares no access', () => {
    @Controller()
    class Undeclared {
      @Get('/b') get() {
        return handler;
      }
    }
    expect(() => check(Proper, Undeclared)).toThrow('Undeclared.get (GET) declares no authorization');
  });

  it('refuses an upgrade that admits everybody', () => {
    @Controller()
    class Open {
      @Upgrade({ ...shared, path: '/b', id: 'open', access: Allow.everyone }) upgrade() {
        return handler;
      }
    }
    expect(() => check(Open)).toThrow('The upgrade open admits everybody');
  });

  it('refuses an upgrade and an operation of two controllers that could match one request', () => {
    @Controller()
    class Other {
      @Operation({
        ...shared,
        method: 'GET',
        path: '/A/{y}',
        id: 'get',
        access: Allow.signedIn,
        response: Responses.none,
      })
      get() {
        return null;
      }
    }
    expect(() => check(Proper, Other)).toThrow('upgrade and get could both match');
  });
});
