import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  base: '/',
  // Only in development: the folders that it imports from are beside it.
  server: { fs: { allow: ['..'] } },
  build: {
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    target: 'es2023',
    // The Content-Security-Policy forbids inline scripts and data: URLs.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    // In kB: the editor of automations is the largest part, and comes with its page only.
    chunkSizeWarningLimit: 600,
    license: { fileName: 'licenses.md' },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
});
