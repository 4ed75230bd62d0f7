import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { emptyAppliedState } from '../../../schema/applied-state.ts';
import { appliedStateFile } from '../../../store/embedded/files/home.ts';
import { makeFactory } from '../../support/factory.ts';

test('does not write over a change by a writer that ignored the lock', async () => {
  const { home, name, store } = makeFactory();
  const edited = { ...emptyAppliedState(name), serial: 7 };
  const changed = store.appliedStates.change(name, async state => {
    writeFileSync(appliedStateFile(home, name), JSON.stringify(edited));
    return { next: state, result: undefined };
  });
  await expect(changed).rejects.toMatchObject({ code: 'serial-moved' });
  expect(await store.appliedStates.read(name)).toEqual(edited);
});
