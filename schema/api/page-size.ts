/** @limit Rows on one page of the management API, unless the request asks for another number. */
export const apiPageSize = 50;
/** @limit Most rows on one page of the management API: a page is answered in a few ms. */
export const apiPageMax = 200;

/** @limit Most stored deliveries by which one request tests an automation: a page shows a line of cells for each 50. */
export const testedDeliveriesMax = 200;
