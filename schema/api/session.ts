/** The request header with the key of a session, which the dashboard gets when it signs in. */
export const sessionKeyHeader = 'X-Hookmill-Session';

/** The request header by which the dashboard says that nobody has used the page for a minute: it reads by itself. */
export const unattendedHeader = 'X-Hookmill-Unattended';

/** The path of the dashboard to which a provider sends browsers back, after people have signed in there. */
export const signInPath = '/sign-in';
