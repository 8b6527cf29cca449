import { Thrift } from 'thrift';
import { MetastoreError, type MetastoreFault } from '../metastore-client';
import { refusal } from '../metastore-fault';
import { ThriftException } from './thrift-structs';

const SERVER = 'The Hive metastore';

/** Texts of metastore authorizers, whose exceptions arrive as a `MetaException`. */
const DENIED = /permission denied|access ?control|not (authorized|allowed|permitted)|unauthorized|no privileges?\b/i;

const MISSING: readonly (string | null)[] = ['NoSuchObjectException', 'UnknownDBException'];

/** Translates the error of a call that a metastore answered with an exception or without a result. */
export function exceptionFault(error: unknown): MetastoreError {
  if (error instanceof MetastoreError) return error;
  const words = error instanceof Error ? error.message : '';
  return refusal(faultOf(error, words), SERVER, words, []);
}

function faultOf(error: unknown, words: string): MetastoreFault {
  if (error instanceof ThriftException) {
    if (MISSING.includes(error.kind)) return 'missing';
    if (error.kind === 'TApplicationException')
      return error.type === Thrift.TApplicationExceptionType.UNKNOWN_METHOD ? 'unsupported' : 'failed';
  }
  return DENIED.test(words) ? 'denied' : 'failed';
}
