import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { attachmentName, headersAttachmentName } from '../../../../schema/attachments.ts';
import { messageName, type RunFiles } from '../../../../store/ports/run-files.ts';
import { newRun } from '../../../support/deliveries.ts';
import { type MakePlace, openAt } from './place.ts';

export function testRunFiles(makePlace: MakePlace): void {
  test('give a run its message, the exact bytes of its payload, and its event headers', async () => {
    const { runFiles } = openAt(makePlace());
    const { id } = newRun();
    const payload = Buffer.from([0xff, 0x00, 0x7b]);
    const event = { payload, headers: { 'x-github-event': 'push' } };
    const directory = await runFiles.prepare(id, 'Triage.', event);
    expect(directory).toBe(runFiles.locate(id));
    expect(await readFile(join(directory, messageName), 'utf8')).toBe('Triage.');
    expect(await readFile(join(directory, attachmentName))).toEqual(payload);
    const headers = await readFile(join(directory, headersAttachmentName), 'utf8');
    expect(headers).toBe('{\n  "x-github-event": "push"\n}\n');
    expect(await runFiles.prepare(id, 'Triage.', event)).toBe(directory);
  });

  test('give a run the numbered attachments of all its deliveries, and those of a later attempt anew', async () => {
    const { runFiles } = openAt(makePlace());
    const { id } = newRun();
    const events = ['one', 'two'].map(text => ({ payload: Buffer.from(text), headers: { 'x-n': text } }));
    const prepare = (all: typeof events) =>
      runFiles.prepare(id, 'Triage.', { payload: Buffer.of(), headers: {} }, Readable.from(all));
    const directory = await prepare([...events, ...events]);
    await prepare(events);
    const read = async (name: string) => {
      const files = (await readdir(join(directory, name))).sort();
      return Promise.all(
        files.map(async file => [file, await readFile(join(directory, name, file), 'utf8')]),
      );
    };
    expect(await read('event-payloads')).toEqual([
      ['0001.json', 'one'],
      ['0002.json', 'two'],
    ]);
    expect(await read('event-headers')).toEqual([
      ['0001.json', '{\n  "x-n": "one"\n}\n'],
      ['0002.json', '{\n  "x-n": "two"\n}\n'],
    ]);
  });

  test('keep the output of each attempt below its heading', async () => {
    const place = makePlace();
    const { runFiles } = openAt(place);
    const { id } = await prepared(runFiles);
    expect(await runFiles.readOutput(id)).toBeUndefined();
    for (const attempt of ['one', 'two']) {
      const output = runFiles.appendOutput(id, `attempt ${attempt}`, 100);
      await output.write(Buffer.from(attempt));
      await output.close('succeeded');
    }
    expect(await readOutput(openAt(place).runFiles, id)).toBe(
      '[hookmill: attempt one]\none\n[hookmill: succeeded]\n[hookmill: attempt two]\ntwo\n[hookmill: succeeded]\n',
    );
    const all = (await readOutput(runFiles, id)) ?? '';
    for (const from of [5, all.indexOf('two'), all.length - 1]) {
      expect(await readOutput(runFiles, id, from)).toBe(all.slice(from));
    }
    expect(await readOutput(runFiles, id, 1_000)).toBe('');
  });

  test('keep no more of the output than the bound, and say how much is missing', async () => {
    const { runFiles } = openAt(makePlace());
    const { id } = await prepared(runFiles);
    const output = runFiles.appendOutput(id, 'attempt 1', 4);
    await output.write(Buffer.from('abc'));
    expect(output.isFull()).toBe(false);
    await output.write(Buffer.from('def'));
    expect(output.isFull()).toBe(true);
    await output.write(Buffer.from('g'));
    await output.close('failed');
    expect(await readOutput(runFiles, id)).toBe(
      '[hookmill: attempt 1]\nabcd\n[hookmill: output truncated: 3 more bytes were not kept]\n[hookmill: failed]\n',
    );
  });

  test('keep the ordinary files that a command left, instead of those of an earlier attempt', async () => {
    const { runFiles } = openAt(makePlace());
    const { id } = newRun();
    const directory = await runFiles.prepare(id, 'Act.', { payload: Buffer.from('{}'), headers: {} });
    expect(await runFiles.keepArtifacts({ id, claims: 1 })).toBe(true);
    expect(await runFiles.listArtifacts(id)).toEqual([]);
    const artifacts = join(directory, 'artifacts');
    await mkdir(artifacts);
    await writeFile(join(artifacts, 'report.md'), 'all is well');
    await writeFile(join(artifacts, 'empty'), '');
    expect(await runFiles.keepArtifacts({ id, claims: 1 })).toBe(true);
    expect(await runFiles.listArtifacts(id)).toEqual([
      { name: 'empty', size: 0 },
      { name: 'report.md', size: 11 },
    ]);
    const report = await runFiles.readArtifact(id, 'report.md');
    expect(report && (await text(report.stream))).toBe('all is well');
    const empty = await runFiles.readArtifact(id, 'empty');
    expect(empty && (await text(empty.stream))).toBe('');
    for (const name of ['other', '../report.md', '', '.', '..', `../../runs/${id}/prompt.md`])
      expect(await runFiles.readArtifact(id, name)).toBeUndefined();
    await rm(join(artifacts, 'empty'));
    await runFiles.beginArtifacts({ id, claims: 3 });
    expect(await runFiles.listArtifacts(id)).toEqual([]);
    // An attempt before, whose daemon seemed dead, is late.
    await runFiles.keepArtifacts({ id, claims: 1 });
    expect(await runFiles.listArtifacts(id)).toEqual([]);
    expect(await runFiles.prepareArtifacts({ id, claims: 3 })).toBeUndefined();
    await runFiles.keepArtifacts({ id, claims: 3 });
    expect((await runFiles.listArtifacts(id)).map(({ name }) => name)).toEqual(['report.md']);
    await runFiles.remove(id);
    expect(await runFiles.listArtifacts(id)).toEqual([]);
  });

  test('are listed and removed by run', async () => {
    const { runFiles } = openAt(makePlace());
    expect(await listRuns(runFiles)).toEqual([]);
    const runs = [await prepared(runFiles), await prepared(runFiles)];
    expect(await listRuns(runFiles)).toEqual(runs.map(({ id }) => id).sort());
    for (const { id } of runs) await runFiles.remove(id);
    expect(await listRuns(runFiles)).toEqual([]);
    await runFiles.remove(newRun().id);
  });
}

async function prepared(runFiles: RunFiles) {
  const run = newRun();
  await runFiles.prepare(run.id, 'Triage.', { payload: Buffer.from('{}'), headers: {} });
  return run;
}

async function listRuns(runFiles: RunFiles): Promise<string[]> {
  const ids: string[] = [];
  for await (const id of runFiles.list()) ids.push(id);
  return ids.sort();
}

async function readOutput(runFiles: RunFiles, id: string, from?: number): Promise<string | undefined> {
  const output = await runFiles.readOutput(id, from);
  if (!output) return undefined;
  const read = await text(output.stream);
  expect(output.size).toBe(Buffer.byteLength(read));
  return read;
}
