import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A part of dist/ that is built on its own. Patterns are relative to the working directory. */
export interface Part {
  readonly sources: readonly string[];
  readonly output: readonly string[];
  /** Writes the output. Returns the paths of the modules in it. */
  build(): Promise<readonly string[]>;
}

/** What the record says of a part. The digests are over names and contents of files. */
export interface BuiltPart {
  readonly sources: string;
  readonly output: string;
  /** The directories of the packages whose code is in the part. */
  readonly packages: readonly string[];
}

/**
 * Builds the parts whose sources or output are not the ones of their last build, by their contents. A build that fails or
 * is interrupted leaves no record of its part, so the next call builds it again.
 */
export async function updateParts(parts: Readonly<Record<string, Part>>, record: string): Promise<void> {
  const built: Record<string, BuiltPart> = existsSync(record) ? JSON.parse(readFileSync(record, 'utf8')) : {};
  for (const [name, { sources, output, build }] of Object.entries(parts)) {
    const digested = digest(sources);
    if (built[name]?.sources === digested && built[name].output === digest(output)) continue;
    delete built[name];
    rmSync(record, { force: true });
    const packages = findPackages(await build());
    built[name] = { sources: digested, output: digest(output), packages };
    replaceFile(record, JSON.stringify(built, undefined, 2));
  }
}

/** Replaces a file in one step, and only if it changed, because commands may be running from it. */
export function replaceFile(file: string, content: string | Buffer): void {
  if (existsSync(file) && readFileSync(file).equals(Buffer.from(content))) return;
  const temporary = join(dirname(file), `.${process.pid}`);
  writeFileSync(temporary, content);
  renameSync(temporary, file);
}

/** The digest also depends on the Node.js that builds, because the names in its built-in modules are in the bundle. */
function digest(patterns: readonly string[]): string {
  const sum = createHash('sha256').update(process.version);
  for (const file of globSync(patterns).sort()) {
    const content = readFileSync(file);
    sum.update(`\0${file}\0${content.length}\0`).update(content);
  }
  return sum.digest('hex');
}

function findPackages(modules: readonly string[]): string[] {
  const directories = modules.flatMap(
    module => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(module)?.[0] ?? [],
  );
  return [...new Set(directories)].sort();
}
