import { closedError, DeliveryLogError } from '../../../ports/delivery-log-error.ts';
import { type Ask, type ClosableReader, makeReader, toQueryError } from './query.ts';
import { answerQuery, openSqliteReader, type SqliteReader } from './reader.ts';

/** A reader that answers on the calling thread, for commands. It opens the file with the first question. */
export function openProcessReader(file: string): ClosableReader {
  let reader: SqliteReader | undefined;
  let isClosed = false;
  const ask: Ask = async (verb, given) => {
    if (isClosed) throw closedError();
    try {
      reader ??= openSqliteReader(file);
      return answerQuery(reader, verb, given);
    } catch (cause) {
      const { code, message } = toQueryError(cause);
      throw new DeliveryLogError(code, message, { cause });
    }
  };
  return {
    ...makeReader(ask),
    close: async () => {
      isClosed = true;
      reader?.close();
    },
  };
}
