import { Field } from '../kernel/dto/fields';

/** Body of every error. */
export class ErrorAnswerBody {
  @Field.text({ description: 'What went wrong, in one sentence' }) error: string;
  @Field.text({ description: 'Stable code', example: 'CLUSTER.INVALID_STATE' }) error_code: string;
  @Field.text({ description: 'The same sentence as error' }) error_message: string;
  @Field.map({ description: 'Details of the error' }) details: Record<string, unknown>;
  @Field.text({ description: 'Finds the request in the logs' }) correlation_id: string;
}
