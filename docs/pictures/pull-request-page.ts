import { marked } from 'marked';

/** A page that shows Markdown as GitHub shows a comment on a pull request: tables, code, light and dark. */
export function renderPullRequestPage(markdown: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Comment</title>
<style>${style}</style>
<article>
<header><strong>github-actions</strong> <span class="bot">bot</span> <span>commented now</span></header>
<div class="body">${marked.parse(markdown, { async: false })}</div>
</article>
</html>`;
}

const style = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#ffffff, #0d1117);
  --band: light-dark(#f6f8fa, #151b23);
  --line: light-dark(#d1d9e0, #3d444d);
  --text: light-dark(#1f2328, #f0f6fc);
  --muted: light-dark(#59636e, #9198a1);
  --code: light-dark(#818b981f, #656c7633);
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
p { margin: 0 0 16px; }
table { width: 100%; border-spacing: 0; border-collapse: collapse; }
th, td { padding: 6px 13px; border: 1px solid var(--line); text-align: left; }
tr:nth-child(2n) td { background: var(--band); }
th { font-weight: 600; }
td:nth-child(-n + 3) { white-space: nowrap; }
code {
  padding: 0.2em 0.4em;
  border-radius: 6px;
  background: var(--code);
  font: 85% ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
}
`;
