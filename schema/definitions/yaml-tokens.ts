import type { CST } from 'yaml';

/** @limit Deepest nesting of collections in a definition file: deeper input overflows the stack of a YAML parser. */
export const definitionDepthMax = 64;

export interface Survey {
  /** Offset of the first collection that nests too deep. */
  readonly tooDeepAt?: number;
  /** Anchors and tags, in the order of the text. */
  readonly properties: readonly CST.SourceToken[];
}

/** Checks tokens before they are composed. It loops with its own stack, because the nesting is still unbounded. */
export function surveyTokens(tokens: readonly CST.Token[]): Survey {
  const properties: CST.SourceToken[] = [];
  const collect = (between: readonly CST.SourceToken[] = []) => {
    for (const token of between) if (token.type === 'anchor' || token.type === 'tag') properties.push(token);
  };
  const stack: { token: CST.Token; depth: number }[] = tokens.map(token => ({ token, depth: 0 }));
  for (let entry = stack.pop(); entry; entry = stack.pop()) {
    const { token, depth } = entry;
    if (token.type === 'document') {
      collect(token.start);
      if (token.value) stack.push({ token: token.value, depth });
    }
    if (!('items' in token)) continue;
    if (depth >= definitionDepthMax) return { tooDeepAt: token.offset, properties };
    for (const { start, key, sep, value } of token.items) {
      collect(start);
      collect(sep);
      if (key) stack.push({ token: key, depth: depth + 1 });
      if (value) stack.push({ token: value, depth: depth + 1 });
    }
  }
  return { properties: properties.sort((a, b) => a.offset - b.offset) };
}
