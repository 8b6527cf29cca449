import 'reflect-metadata';
import { IntersectionType, PickType } from '@nestjs/swagger';
import { ReadAudit } from './response-fields';
import { Field } from './fields';
import { About, Example, FieldsMean, KeepsUnknownKeys } from './schemas';

@FieldsMean({ memory: { is: 'Memory of the driver', null: 'for the default' }, name: 'Never used', absent: 'Nothing' })
class Settings {
  @Field.text({ optional: true, nullable: true }) memory?: string | null;
  @Field.text({ description: 'Name of the job' }) name: string;
  @Field.id() cluster_id: number;
}

@About('What to run.')
@Example({ name: 'example' })
@KeepsUnknownKeys()
class CreateJob extends Settings {}

@FieldsMean({ memory: { is: 'Memory of the driver', null: 'for the default' }, created_by: 'Its author at the store' })
class Job {
  @Field.text() memory: string;
  @Field.text() created_by: string;
}

const schemaOf = (type: object): unknown => (Reflect.getOwnMetadata('swagger/apiSchema', type) as unknown[]).at(-1);
const descriptionOf = (type: { prototype: object }, field: string): unknown =>
  (Reflect.getMetadata('swagger/apiModelProperties', type.prototype, field) as { description?: string }).description;

describe('what classes say in the document', () => {
  it('is kept when other decorators add to it', () => {
    expect(schemaOf(CreateJob)).toEqual({
      description: 'What to run.',
      example: { name: 'example' },
      additionalProperties: true,
    });
  });

  it('describes fields without a description of their own, with null only where it is allowed', () => {
    expect(descriptionOf(Settings, 'memory')).toBe('Memory of the driver; null for the default');
    expect(descriptionOf(Job, 'memory')).toBe('Memory of the driver');
    expect(descriptionOf(Settings, 'name')).toBe('Name of the job');
    expect(descriptionOf(Settings, 'cluster_id')).toBe('Id of the cluster');
    expect(descriptionOf(Job, 'created_by')).toBe('Its author at the store');
    expect(Reflect.hasMetadata('swagger/apiModelProperties', Settings.prototype, 'absent')).toBe(false);
  });

  it('is inherited and copied with the fields', () => {
    expect(descriptionOf(CreateJob, 'memory')).toContain('for the default');
    expect(descriptionOf(PickType(Settings, ['memory']), 'memory')).toContain('for the default');
    expect(descriptionOf(IntersectionType(Settings, ReadAudit), 'created_by')).toBe(
      'The user who created the record; null if the platform did',
    );
  });
});
