/** @limit Longest name of a header in a definition, in characters: the names that senders use are far shorter. */
const headerNameCharsMax = 128;

/** The name of a header in a definition: a token, as RFC 9110 section 5.6.2 says. */
export const headerNamePattern = new RegExp(`^[!#$%&'*+.^_\`|~0-9A-Za-z-]{1,${headerNameCharsMax}}$`);
