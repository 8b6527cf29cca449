import type { DynamicModule, Type } from '@nestjs/common';

/**
 * Answers what a lower domain asks, an abstract class that it injects: whoever imports the domain of the answer provides it to
 * the whole process. A process that asks and has no answer does not boot.
 */
export function answering<Q>(question: abstract new () => Q, answer: Type<Q>): DynamicModule {
  class Answer {}
  return { module: Answer, global: true, providers: [{ provide: question, useClass: answer }], exports: [question] };
}
