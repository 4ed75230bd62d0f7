import type { SignedContent } from './description.ts';
import { singleHeader } from './signed-parts.ts';

const signedHeadersHeader = 'x-contentful-signed-headers';
const signedHeadersMax = 32;

/**
 * Contentful's canonical request: method, path, the headers that a header names, and the body, one a line. The
 * names must include the timestamp and the list of names itself, or both could be replaced. Rule: the source of
 * @contentful/node-apps-toolkit, `requests`.
 */
export const contentfulContent: SignedContent = ({ headers, method, url, body }) => {
  const list = singleHeader(headers, signedHeadersHeader);
  if (typeof list !== 'string') return undefined;
  const names = list.split(',', signedHeadersMax + 1).map(name => name.trim().toLowerCase());
  if (names.length > signedHeadersMax) return undefined;
  if (!names.includes(signedHeadersHeader) || !names.includes('x-contentful-timestamp')) return undefined;

  const lines: string[] = [];
  for (const name of names.sort()) {
    const value = singleHeader(headers, name);
    if (typeof value !== 'string') return undefined;
    lines.push(`${name}:${value.trim()}`);
  }
  return [`${method}\n${pathOf(url)}\n${lines.join(';')}\n`, body];
};

function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return search === '' ? pathname : `${pathname}?${encodeURI(encodeURIComponent(search.slice(1)))}`;
}
