import { Marked } from 'marked';

const markdownRenderer = new Marked({ renderer: { code: ({ text }) => renderDiff(text) } });

/** A page that shows Markdown as GitHub shows a comment on a pull request: code and diffs, light and dark. */
export function renderPullRequestPage(markdown: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Comment</title>
<style>${style}</style>
<article>
<header><strong>github-actions</strong> <span class="bot">bot</span> <span>commented now</span></header>
<div class="body">${markdownRenderer.parse(markdown, { async: false })}</div>
</article>
</html>`;
}

/** Colours the lines of a diff by their first character. */
function renderDiff(text: string): string {
  const lines = text.split('\n').map(line => {
    const escaped = line.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    return `<span class="${classes[line[0] ?? ''] ?? 'same'}">${escaped}\n</span>`;
  });
  return `<pre>${lines.join('')}</pre>`;
}

const classes: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '@': 'place' };

const style = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#ffffff, #0d1117);
  --band: light-dark(#f6f8fa, #151b23);
  --line: light-dark(#d1d9e0, #3d444d);
  --text: light-dark(#1f2328, #f0f6fc);
  --muted: light-dark(#59636e, #9198a1);
  --code: light-dark(#818b981f, #656c7633);
  --added: light-dark(#116329, #aff5b4);
  --added-band: light-dark(#dafbe1, #033a16);
  --removed: light-dark(#82071e, #ffdcd7);
  --removed-band: light-dark(#ffebe9, #67060c);
  --place: light-dark(#8250df, #d2a8ff);
}
body {
  margin: 0;
  padding: 1rem;
  background: var(--ground);
  color: var(--text);
  font: 14px/1.5 system-ui, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif;
}
article { overflow: hidden; border: 1px solid var(--line); border-radius: 6px; }
header { padding: 8px 16px; border-bottom: 1px solid var(--line); background: var(--band); color: var(--muted); }
header strong { color: var(--text); }
.bot { padding: 0 6px; border: 1px solid var(--line); border-radius: 2em; font-size: 12px; }
.body { padding: 16px; }
h3 { margin: 0 0 16px; font-size: 17.5px; line-height: 1.25; }
h4 { margin: 24px 0 16px; font-size: 14px; line-height: 1.25; }
p, ul { margin: 0 0 16px; }
ul { padding-left: 2em; }
table { display: block; margin: 0 0 16px; overflow: auto; border-collapse: collapse; }
th, td { padding: 6px 13px; border: 1px solid var(--line); }
th { font-weight: 600; }
tr:nth-child(2n) td { background: var(--band); }
pre {
  margin: 0 0 16px;
  padding: 16px;
  border-radius: 6px;
  background: var(--band);
  font: 85% / 1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
}
pre:last-child { margin: 0; }
pre span { display: block; }
.added { background: var(--added-band); color: var(--added); }
.removed { background: var(--removed-band); color: var(--removed); }
.place { color: var(--place); font-weight: 600; }
code {
  padding: 0.2em 0.4em;
  border-radius: 6px;
  background: var(--code);
  font: 85% ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
}
`;
