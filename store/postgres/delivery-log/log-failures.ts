import pg from 'pg';
import { DeliveryLogError, StoreError } from '../../ports/store-error.ts';

/** Converts an error of PostgreSQL or of its connection to one that says what to do. */
export function toLogFailure(error: unknown): DeliveryLogError {
  if (error instanceof DeliveryLogError) return error;
  const message = error instanceof Error ? describe(error) : String(error);
  if (error instanceof StoreError) {
    return new DeliveryLogError(error.code === 'newer-format' ? 'version' : 'failed', message, {
      cause: error,
    });
  }
  const advice = isConnectionLost(error)
    ? 'check that PostgreSQL runs and can be reached'
    : 'see the log of PostgreSQL';
  return new DeliveryLogError('failed', `PostgreSQL did not record it (${message}); ${advice}`, {
    cause: error,
  });
}

/** Several addresses of a host are tried, and the error that combines their failures has no message. */
function describe(error: Error): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join(', ');
  return error.message || String((error as NodeJS.ErrnoException).code);
}

/**
 * Whether the error says nothing about what was sent: it may have been committed or not. Of the errors of PostgreSQL,
 * class 08 is about connections, and 57P01 to 57P05 say that the server ends them. Node.js and the driver report lost
 * connections as plain errors; a defect of this program is a TypeError or the like.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return /^(08...|57P0[1-5]|53300)$/.test(error.code ?? '');
  return error instanceof Error && !elsewhere.some(kind => error instanceof kind);
}

const elsewhere = [DeliveryLogError, StoreError, TypeError, RangeError, ReferenceError, SyntaxError] as const;

/** Whether the same statement may succeed if it is sent again: a conflict, a deadlock, a moved row. */
export function isConflict(error: unknown): boolean {
  return hasCode(error, /^40(001|P01)$/);
}

/** Whether there is no partition for the day of a row. */
export function isPartitionMissing(error: unknown): boolean {
  return hasCode(error, /^23514$/);
}

/** Whether a pooler gave the statement to another connection than the one that prepared it. */
export function isPreparedElsewhere(error: unknown): boolean {
  return hasCode(error, /^(26000|42P05)$/);
}

function hasCode(error: unknown, pattern: RegExp): boolean {
  return error instanceof Error && 'code' in error && pattern.test(String(error.code));
}
