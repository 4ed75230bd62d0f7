/** The request header with the key of a session, which the dashboard gets when it signs in. */
export const sessionKeyHeader = 'X-Hookmill-Session';

/** The request header by which the dashboard says that nobody has used the page for a minute: it reads by itself. */
export const unattendedHeader = 'X-Hookmill-Unattended';

/** The path of the dashboard to which a provider sends browsers back, after people have signed in there. */
export const signInPath = '/sign-in';

/** @limit Rows on one page of the management API, unless the request asks for another number. */
export const apiPageSize = 50;
/** @limit Most rows on one page of the management API: a page is answered in a few ms. */
export const apiPageMax = 200;

/** @limit Most stored deliveries by which one request tests an automation: a page shows a line of cells for each 50. */
export const testedDeliveriesMax = 200;
