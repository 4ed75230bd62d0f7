import pg from 'pg';
import { StoreError, type StoreErrorCode } from '../../ports/store-error.ts';
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
