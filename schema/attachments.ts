/** The file name of the attachment that holds a delivery's payload; the envelope names it. */
export const attachmentName = 'event-payload.json';
/** The file name of the attachment that holds a delivery's event headers; the envelope names it. */
export const headersAttachmentName = 'event-headers.json';
/** The directory with the payloads of all deliveries of a run that gathers them. */
export const attachmentsName = 'event-payloads';
/** The directory with their event headers. */
export const headersAttachmentsName = 'event-headers';

/** The file name of a delivery's attachment in these directories, by its place in the order of commits, from 0. */
export function nameAttachment(index: number): string {
  return `${String(index + 1).padStart(4, '0')}.json`;
}

/** The names of files of a run that are kept: safe in paths, URLs and on terminals. */
export const artifactNamePattern = /^\w[\w.+ -]{0,127}$/;
