import { getMetadataStorage, type MetadataStorage } from 'class-validator';

type Rules = ReturnType<MetadataStorage['getTargetValidationMetadatas']>;

/**
 * Makes class-validator look up the rules of a class only once. By itself, it goes through the rules of all classes, several
 * hundred, to find inherited ones each time that a body or a query is validated.
 */
export function keepRulesByClass(storage: MetadataStorage = getMetadataStorage()): void {
  const lookUp = storage.getTargetValidationMetadatas.bind(storage);
  const add = storage.addValidationMetadata.bind(storage);
  const kept = new Map<unknown, Rules>();
  storage.getTargetValidationMetadatas = (type, schema, always, strictGroups, groups) => {
    // Requests are validated by class alone. These options select other rules, which are not cached.
    if (schema || always || strictGroups || groups?.length) return lookUp(type, schema, always, strictGroups, groups);
    let rules = kept.get(type);
    if (!rules) kept.set(type, (rules = lookUp(type, schema, always, strictGroups, groups)));
    return rules;
  };
  storage.addValidationMetadata = (rule) => {
    kept.clear();
    add(rule);
  };
}
