import { ValidationPipe, type ValidationError } from '@nestjs/common';
import { invalid } from '../errors/domain-error';

function collect(errors: readonly ValidationError[], path: string, problems: Record<string, string[]>): void {
  for (const error of errors) {
    const field = path ? `${path}.${error.property}` : error.property;
    const texts = Object.entries(error.constraints ?? {}).map(([rule, text]) =>
      rule === 'whitelistValidation' ? `${field} is not a known field` : text,
    );
    if (texts.length > 0) problems[field] = texts;
    collect(error.children ?? [], field, problems);
  }
}

/** Bodies and queries become instances of their classes; unknown fields and wrong types are a 400 that names them. */
export function createValidationPipe(): ValidationPipe {
  return new ValidationPipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: false,
    validationError: { target: false, value: false },
    exceptionFactory: (errors) => {
      const problems: Record<string, string[]> = {};
      collect(errors, '', problems);
      const sentence = Object.values(problems).flat().join('; ');
      return invalid('REQUEST.INVALID', `The request is not valid: ${sentence}.`, { fields: problems });
    },
  });
}
