import { Field } from '../kernel/dto/fields';
import { About } from '../kernel/dto/schemas';

@About('Body of every error.')
export class ErrorAnswerBody {
  @Field.text({ description: 'What went wrong, in one sentence' }) error: string;
  @Field.text({ description: 'Stable code for programs: the kind of record and the problem' }) error_code: string;
  @Field.text({ description: 'The same sentence as error' }) error_message: string;
  @Field.map({
    description: 'Values that belong to the code, such as the names of invalid fields; empty if there are none',
  })
  details: Record<string, unknown>;
  @Field.text({ description: 'Id of the request, under which its log lines and its audit event are found' })
  correlation_id: string;
}
