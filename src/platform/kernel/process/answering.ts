import type { DynamicModule, Type } from '@nestjs/common';

/**
 * Gives the whole process the answer to a question of a lower domain, which is an abstract class that the lower domain injects.
 * A process that asks and has no answer does not boot.
 */
export function answering<Q>(question: abstract new () => Q, answer: Type<Q>): DynamicModule {
  class Answer {}
  return { module: Answer, global: true, providers: [{ provide: question, useClass: answer }], exports: [question] };
}
