/** Renders a key as a segment of a path, as JSONPath does (RFC 9535): `.level`, or `["odd name"]`. */
export function renderPathSegment(key: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}
