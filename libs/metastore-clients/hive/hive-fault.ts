import { Thrift } from 'thrift';
import { MetastoreError, type MetastoreFault } from '../metastore-client';
import { refusal } from '../metastore-fault';
import { hiveTypes } from './hive-thrift';

const SERVER = 'The Hive metastore';

/** What authorizers of metastores say, whose exceptions arrive as a `MetaException` with a text. */
const DENIED = /permission denied|access ?control|not (authorized|allowed|permitted)|unauthorized|no privileges?\b/i;

/** The error of a call that a metastore answered with an exception, or with nothing. */
export function answeredFault(error: unknown): MetastoreError {
  if (error instanceof MetastoreError) return error;
  const words = error instanceof Error ? wordsOf(error) : '';
  return refusal(faultOf(error, words), SERVER, words, []);
}

function faultOf(error: unknown, words: string): MetastoreFault {
  const { NoSuchObjectException, UnknownDBException } = hiveTypes;
  if (error instanceof NoSuchObjectException || error instanceof UnknownDBException) return 'missing';
  if (error instanceof Thrift.TApplicationException) {
    const { type } = error as { type?: number };
    return type === Thrift.TApplicationExceptionType.UNKNOWN_METHOD ? 'unsupported' : 'failed';
  }
  return DENIED.test(words) ? 'denied' : 'failed';
}

/** Exceptions may come without a message. */
function wordsOf(error: Error): string {
  const { name, message } = error as { name: string; message: string | null };
  return message ? message : name;
}
