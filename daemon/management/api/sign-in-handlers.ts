import { hash } from 'node:crypto';
import type { Context } from 'koa';
import { ApiProblem } from '../../../schema/api/problems.ts';
import { toPerson } from '../guards/caller.ts';
import type { PrivateCookie } from '../guards/session-cookie.ts';
import type { SignIn } from '../sign-in/open-sign-in.ts';
import { beginSession } from './begin-session.ts';
import type { ApiDeps, PortHandlers } from './handler.ts';

/** @limit Time in which a person must sign in at the provider, in ms: long enough for a password and a second factor. */
const signInMs = 10 * 60 * 1000;
/** @limit Randomness of each secret that ties a sign-in to its page, in bytes: 256 bits cannot be guessed. */
const attemptRandomBytes = 32;

/**
 * Handles the sign-in of people. The browser leaves for the provider with a secret in a cookie, and a key that only the
 * dashboard's page has. When it comes back, the page finishes the sign-in, and only with both. So no other site can cause a
 * sign-in, nor another port of the host, which can set the cookie.
 */
export function createSignInHandlers(
  deps: ApiDeps,
  signIn: SignIn | undefined,
  cookie: PrivateCookie,
): Pick<PortHandlers, 'showSignIn' | 'beginSignIn' | 'finishSignIn'> {
  const { signInAttempts, readClientAddress, randomBytes, log } = deps;
  const makeSecret = () => Buffer.from(randomBytes(attemptRandomBytes)).toString('base64url');
  const combine = (secret: string, key: string) => `${secret} ${key}`;
  const logged = (context: Context) => (err: unknown) => {
    log.warn({ err, from: readClientAddress(context.req) }, 'a sign-in was refused');
    throw err;
  };
  return {
    showSignIn: ({ context }) => ({
      body: { provider: signIn && context.headers.host === signIn.host ? { label: signIn.label } : null },
    }),
    beginSignIn: async ({ context }) => {
      const { begin } = requireSignIn(signIn, context);
      const [secret, attemptKey] = [makeSecret(), makeSecret()];
      const { href: url } = await begin(combine(secret, attemptKey)).catch(logged(context));
      cookie.write(context, secret, signInMs);
      return { body: { url, attemptKey } };
    },
    finishSignIn: async ({ body, context }) => {
      const { finish, findGrants } = requireSignIn(signIn, context);
      const secret = cookie.read(context);
      cookie.clear(context);
      if (!secret || body.attemptKey === '') throw new ApiProblem('sign-in-refused');
      const address = readClientAddress(context.req);
      signInAttempts.begin(address);
      const person = await finish(combine(secret, body.attemptKey), body.query).catch(logged(context));
      signInAttempts.succeed(address);
      const sha256 = hash('sha256', JSON.stringify([person.issuer, person.subject]));
      return beginSession(deps, context, toPerson(person, sha256, findGrants(person)), person);
    },
  };
}

/** Fails unless people are at the host to which the provider sends them back. */
function requireSignIn(signIn: SignIn | undefined, { headers }: Context): SignIn {
  if (!signIn) throw new ApiProblem('not-found');
  if (headers.host === signIn.host) return signIn;
  const detail = `sign in at ${signIn.host}: open the dashboard there`;
  throw new ApiProblem('sign-in-refused', { detail });
}
