const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
/** Deeper levels stay on one line: the text of a payload that is all brackets would grow with its square. */
const depthMax = 40;

/** JSON set over lines, each value to the letter: numbers too long for a double stay as they are, twins too. */
export function prettyJson(text: string): string {
  const parts: string[] = [];
  let depth = 0;
  let previous = '';
  const breakLine = () => {
    if (depth <= depthMax) parts.push('\n', '  '.repeat(depth));
  };
  for (const [token] of text.matchAll(tokens)) {
    const closes = token === '}' || token === ']';
    if (closes) depth -= 1;
    if (closes ? !opens(previous) : opens(previous) || previous === ',') breakLine();
    if (opens(token)) depth += 1;
    parts.push(token === ':' ? ': ' : token);
    previous = token;
  }
  return parts.join('');
}

function opens(token: string): boolean {
  return token === '{' || token === '[';
}
