/** @limit Rows on one page of the management API, unless the request asks for another number. */
export const apiPageSize = 50;
/** @limit Most rows on one page of the management API: a page is answered in a few ms. */
export const apiPageMax = 200;
