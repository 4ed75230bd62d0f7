import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Middleware } from 'koa';

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};

interface DashboardFile {
  readonly bytes: Buffer;
  /** Returns the same compressed, as most browsers ask for it: text is a third of the size. Compresses once. */
  readonly gzipped: () => Promise<Buffer>;
  readonly mediaType: string;
}

/** The dashboard's files by their URL path. They are read once, so no request reaches the file system. */
export type DashboardFiles = ReadonlyMap<string, DashboardFile>;

/** Finds the built dashboard in `dist/`, whether the daemon runs from there or from its sources. */
export function findDashboardDirectory(): string {
  const fromHere = import.meta.url.endsWith('.ts') ? '../../dist/dashboard' : './dashboard';
  return fileURLToPath(new URL(fromHere, import.meta.url));
}

/** Reads the files of the built dashboard; none if it is not built. */
export async function readDashboardFiles(directory: string): Promise<DashboardFiles> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    },
  );
  const files = entries
    .filter(entry => entry.isFile() && extname(entry.name) in mediaTypes)
    .map(async ({ parentPath, name }) => {
      const file = join(parentPath, name);
      const path = file.slice(join(directory, '/').length).replaceAll('\\', '/');
      const mediaType = mediaTypes[extname(name)] ?? '';
      const bytes = await readFile(file);
      return [`/${path}`, { bytes, gzipped: gzippedOnce(bytes), mediaType }] as const;
    });
  return new Map(await Promise.all(files));
}

function gzippedOnce(bytes: Buffer): () => Promise<Buffer> {
  let gzipped: Promise<Buffer> | undefined;
  return () => {
    gzipped ??= promisify(gzip)(bytes);
    return gzipped;
  };
}

/**
 * Serves the dashboard's files, and index.html for every path that belongs to a page. The names of files below
 * `/assets/` change with their content, so browsers may cache them forever.
 */
export function serveDashboard(files: DashboardFiles): Middleware {
  return async (context, next) => {
    const { method, path } = context;
    const isPage = !path.startsWith('/api/') && !path.startsWith('/assets/') && extname(path) === '';
    const file = files.get(isPage ? '/index.html' : path);
    if (!file || (method !== 'GET' && method !== 'HEAD')) return next();
    if (path.startsWith('/assets/')) context.set('Cache-Control', 'public, max-age=31536000, immutable');
    context.set('Content-Type', file.mediaType);
    context.vary('Accept-Encoding');
    const isGzipped = context.acceptsEncodings('gzip', 'identity') === 'gzip';
    if (isGzipped) context.set('Content-Encoding', 'gzip');
    context.body = isGzipped ? await file.gzipped() : file.bytes;
  };
}
