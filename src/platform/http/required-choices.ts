import { isDeepStrictEqual } from 'node:util';
import type { OpenAPIObject } from '@nestjs/swagger';
import { ONE_IS_REQUIRED } from '../kernel/dto/one-is-required';

type Part = Record<string, unknown>;

/** Moves the lists of which one is required from parameters and fields to their operations and schemas, where each stands once. */
export function gatherRequiredChoices({ paths, components }: OpenAPIObject): void {
  for (const item of Object.values(paths)) {
    for (const operation of Object.values(item as Record<string, Part>)) {
      gather(operation, (operation['parameters'] ?? []) as Part[]);
    }
  }
  for (const schema of Object.values(components?.schemas ?? {}) as Part[]) {
    gather(schema, Object.values((schema['properties'] ?? {}) as Record<string, Part>));
  }
}

function gather(whole: Part, parts: readonly Part[]): void {
  const choices: unknown[] = [];
  for (const part of parts) {
    const choice = part[ONE_IS_REQUIRED];
    if (choice === undefined) continue;
    delete part[ONE_IS_REQUIRED];
    if (!choices.some((other) => isDeepStrictEqual(other, choice))) choices.push(choice);
  }
  if (choices.length > 0) whole[ONE_IS_REQUIRED] = choices;
}
