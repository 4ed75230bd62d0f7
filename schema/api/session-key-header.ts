/** The request header with the key of a session, which the dashboard gets when it signs in. */
export const sessionKeyHeader = 'X-Hookmill-Session';
