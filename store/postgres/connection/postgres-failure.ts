import pg from 'pg';
import { DeliveryLogError, StoreError, type StoreErrorCode } from '../../ports/store-error.ts';
import { describeTarget } from './pool.ts';

/**
 * Converts an error of the driver to a StoreError that names host and database, never the password. Use it as a
 * rejection handler. What PostgreSQL says about a statement itself is a defect, and stays as it is.
 */
export function postgresFailure(url: string): (cause: unknown) => never {
  return cause => {
    if (cause instanceof StoreError) throw cause;
    const target = describeTarget(url);
    const { code, message } = cause as NodeJS.ErrnoException;
    const isAnswer = cause instanceof pg.DatabaseError;
    const refusal = isAnswer ? findRefusal(cause) : undefined;
    if (isAnswer && !refusal) throw cause;
    const [failure, what] = refusal ?? ['unreachable', `cannot be reached (${code ?? message}); ${checkUrl}`];
    throw new StoreError(failure, `the database ${target} ${what}`, { cause });
  };
}

function findRefusal({ code = '', severity }: pg.DatabaseError) {
  const known = refusals[code] ?? refusals[code.slice(0, 2)];
  // Not about the statement: the server has refused or ended the connection.
  return known ?? (severity === 'FATAL' || severity === 'PANIC' ? refusesConnections : undefined);
}

const checkUrl = 'check that it runs, and HOOKMILL_STORE';

const refusesConnections = [
  'unreachable',
  'refuses connections; see its log, and check HOOKMILL_STORE',
] as const;

/** Remedies for errors of PostgreSQL, by their code or its class (PostgreSQL, appendix A). */
const refusals: Readonly<Record<string, readonly [StoreErrorCode, string]>> = {
  '08': ['unreachable', `lost the connection; ${checkUrl}`],
  '25006': ['unreachable', 'is read-only, as a standby is; use the URL of the primary server'],
  '25P03': ['unreachable', 'ended a change that did nothing for too long; run the command again'],
  '28': ['unreachable', 'refuses the user or the password; check HOOKMILL_STORE'],
  '3D000': ['unreachable', 'does not exist; create it, or check HOOKMILL_STORE'],
  '3F000': [
    'unreachable',
    'has no tables of hookmill; run `hookmill store migrate` as the owner of the database',
  ],
  '40': ['locked', 'is being changed by another hookmill; try again later'],
  '42501': [
    'unreachable',
    'does not allow this role what hookmill needs; run `hookmill store migrate` as the owner of the database',
  ],
  '42P01': [
    'unreachable',
    'has no tables of hookmill; run `hookmill store migrate` as the owner of the database',
  ],
  '53': ['unreachable', 'has too little disk space, memory or connections left; see its log'],
  // With ALLOW_CONNECTIONS false. Servers translate the severity, by which others are known.
  '55000': refusesConnections,
  '55P03': ['locked', 'is being changed by another hookmill; try again later'],
  '57': ['unreachable', 'is starting, stopping or ended the connection; try again'],
  '58': ['unreachable', 'has a failing disk or file system; see its log'],
  XX: ['unreachable', 'is damaged or has a defect; see its log'],
};

/** Converts an error of the delivery log to a DeliveryLogError that says what to do. */
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
