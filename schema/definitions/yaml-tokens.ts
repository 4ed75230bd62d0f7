import type { CST } from 'yaml';

/** @limit Deepest nesting of collections in a definition file: deeper input overflows the stack of a YAML parser. */
export const definitionDepthMax = 64;

export interface Survey {
  /** Offset of the first collection past the bound of nesting. */
  readonly tooDeepAt?: number;
  /** Anchors and tags, in their order. */
  readonly properties: readonly CST.SourceToken[];
}

/** What is to be known before the tokens are composed. A loop with a stack of its own: the input is not trusted yet. */
export function survey(tokens: readonly CST.Token[]): Survey {
  const properties: CST.SourceToken[] = [];
  const take = (between: readonly CST.SourceToken[] = []) => {
    properties.push(...between.filter(({ type }) => type === 'anchor' || type === 'tag'));
  };
  const stack: { token: CST.Token; depth: number }[] = tokens.map(token => ({ token, depth: 0 }));
  for (let entry = stack.pop(); entry; entry = stack.pop()) {
    const { token, depth } = entry;
    if (token.type === 'document') {
      take(token.start);
      if (token.value) stack.push({ token: token.value, depth });
    }
    if (!('items' in token)) continue;
    if (depth >= definitionDepthMax) return { tooDeepAt: token.offset, properties };
    for (const { start, key, sep, value } of token.items) {
      take(start);
      take(sep);
      if (key) stack.push({ token: key, depth: depth + 1 });
      if (value) stack.push({ token: value, depth: depth + 1 });
    }
  }
  return { properties: properties.sort((a, b) => a.offset - b.offset) };
}
