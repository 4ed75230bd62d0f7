/** The file name of the attachment that holds a delivery's payload; the envelope names it. */
export const attachmentName = 'event-payload.json';
/** The file name of the attachment that holds a delivery's event headers; the envelope names it. */
export const headersAttachmentName = 'event-headers.json';
