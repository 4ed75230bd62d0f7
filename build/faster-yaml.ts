/** How the code of yaml is rewritten when it is bundled: by the path of its file below `dist/`. */
export const yamlRewrites: Readonly<Record<string, (code: string) => string>> = {
  'parse/lexer.js': withoutGenerators,
  'parse/parser.js': withoutGenerators,
  'nodes/Node.js': withAssignedType,
  'nodes/Pair.js': withAssignedType,
};

/**
 * Rewrites the code of yaml's lexer or parser, whose methods are generators: each adds to an array what it would yield,
 * and `lex` and `parse` return that array. Nothing that they do depends on when a token is taken. Every lexeme would
 * otherwise pass through up to six generators, which takes two thirds of the time that parsing does.
 * Throws if the code has a form that it does not know.
 */
export function withoutGenerators(code: string): string {
  const rewritten = code
    .replaceAll(/^ \* .*$/gm, '') // The examples in comments contain generators.
    .replaceAll('yield* ', '')
    .replaceAll(/\byield ([^;]+);/g, 'this.yielded.push($1);')
    .replace(
      /^( {4})\*(lex|parse)(\(.*\) \{)((?:.|\n)*?)^\1\}/m,
      '$1$2$3 this.yielded = [];$4 return this.yielded;\n$1}',
    )
    .replaceAll(/^ {4}\*(\w+\()/gm, '    $1');
  if (/\byield\b|^\s+\*\w+\(/m.test(rewritten)) throw new Error('a generator is left in the code of yaml');
  if (!rewritten.includes('return this.yielded')) throw new Error('yaml has neither lex nor parse');
  return rewritten;
}

/**
 * Rewrites the code of a class of yaml's nodes, each of which defines its type as a property that is not enumerable:
 * defining it takes longer than the rest of the constructor. An assigned one is enumerable, and nothing lists it.
 * Throws if the code has a form that it does not know.
 */
export function withAssignedType(code: string): string {
  const definition = /Object\.defineProperty\(this, NODE_TYPE, \{ value: (\w+) \}\);/;
  if (!definition.test(code)) throw new Error('a node of yaml does not define its type');
  return code.replace(definition, 'this[NODE_TYPE] = $1;');
}
