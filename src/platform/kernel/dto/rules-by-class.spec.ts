import { getMetadataStorage, IsInt, IsString, Max, validateSync } from 'class-validator';
import './field-shapes';
import { keepRulesByClass } from './rules-by-class';

describe('rules by class', () => {
  it('are looked up once per class', () => {
    const storage = Object.assign(Object.create(getMetadataStorage()), {
      getTargetValidationMetadatas: jest.fn(() => []),
    });
    const lookUp = storage.getTargetValidationMetadatas;
    keepRulesByClass(storage);
    class Body {}
    for (let i = 0; i < 3; i++) storage.getTargetValidationMetadatas(Body, '', false, false);
    expect(lookUp).toHaveBeenCalledTimes(1);
    storage.getTargetValidationMetadatas(Body, '', false, false, ['creation']);
    storage.getTargetValidationMetadatas(Body, '', true, false);
    expect(lookUp).toHaveBeenCalledTimes(3);
  });

  it('include rules that are added to a class or its base class later', () => {
    class Base {
      size: unknown = 'large';
    }
    class Body extends Base {
      name: unknown = 5;
    }
    const faults = () => validateSync(new Body(), { forbidUnknownValues: false }).map(({ property }) => property);
    expect(faults()).toEqual([]);
    IsString()(Body.prototype, 'name');
    expect(faults()).toEqual(['name']);
    IsInt()(Base.prototype, 'size');
    Max(3)(Base.prototype, 'size');
    expect(faults()).toEqual(['name', 'size']);
  });
});
