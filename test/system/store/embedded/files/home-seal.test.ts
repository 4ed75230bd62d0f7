import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { compactDecrypt } from 'jose';
import { describe, expect, test } from 'vitest';
import { openHomeSeal, rotateHomeKey } from '../../../../../store/embedded/files/home-seal.ts';
import type { SealedFor } from '../../../../../store/ports/seal.ts';
import { newHome } from '../../../../support/factory.ts';

const owner: SealedFor = { use: 'team-secret', name: 'TOKEN' };

test('seals the same value differently each time', async () => {
  const seal = openHomeSeal(newHome(), {});
  expect(await seal.seal('x', owner)).not.toBe(await seal.seal('x', owner));
});

test('is JWE, so that the value can be had back without hookmill', async () => {
  const home = newHome();
  const jwe = await openHomeSeal(home, {}).seal('value', owner);
  const key = Buffer.from(readFileSync(home.keyFile, 'utf8'), 'base64');
  const { plaintext, protectedHeader } = await compactDecrypt(jwe, key);
  expect(Buffer.from(plaintext).toString()).toBe('value');
  expect(protectedHeader).toMatchObject({ alg: 'dir', enc: 'A256GCM', name: 'TOKEN' });
});

describe('a sealed value', () => {
  test('does not open once any character of it is another', async () => {
    const seal = openHomeSeal(newHome(), {});
    const jwe = await seal.seal('value', owner);
    for (let i = 0; i < jwe.length; i++) {
      const changed = `${jwe.slice(0, i)}${jwe[i] === 'A' ? 'B' : 'A'}${jwe.slice(i + 1)}`;
      const opened = await seal.open(changed, owner).catch(error => error.code);
      // The unused bits at the end of a base64url part are the one thing that carries no meaning.
      expect(opened === 'key' || (opened === 'value' && /^[.]|^$/.test(jwe.slice(i + 1, i + 2)))).toBe(true);
    }
  });

  test('does not open once the key is gone, and makes no other', async () => {
    const home = newHome();
    const jwe = await openHomeSeal(home, {}).seal('the-value', owner);
    rmSync(home.keyFile);
    await expect(openHomeSeal(home, {}).open(jwe, owner)).rejects.toMatchObject({ code: 'key' });
    expect(() => statSync(home.keyFile)).toThrow('ENOENT');
  });
});

describe('the key', () => {
  test('is created once, and only its owner can read it and its directory', async () => {
    const home = newHome();
    const seals = await Promise.all(Array.from({ length: 5 }, () => openHomeSeal(home, {}).seal('x', owner)));
    for (const jwe of seals) expect(await openHomeSeal(home, {}).open(jwe, owner)).toBe('x');
    expect(statSync(home.keyFile).mode & 0o777).toBe(0o600);
    expect(statSync(home.directory).mode & 0o777).toBe(0o700);
    expect(Buffer.from(readFileSync(home.keyFile, 'utf8'), 'base64')).toHaveLength(32);
  });

  test('is read again to seal, also while a value is being opened', async () => {
    const home = newHome();
    const seal = openHomeSeal(home, {});
    const before = await seal.seal('before', owner);
    execFileSync('mkfifo', [home.oldKeyFile]);
    const opening = seal.open(before, owner);
    // Reading the old key waits for this writer, and then for its end.
    const pipe = await open(home.oldKeyFile, 'w');
    const oldKey = readFileSync(home.keyFile, 'utf8');
    rmSync(home.oldKeyFile);
    writeFileSync(home.keyFile, `${randomBytes(32).toString('base64')}\n`);
    const sealed = seal.seal('after', owner);
    await pipe.writeFile(oldKey);
    await pipe.close();
    expect(await opening).toBe('before');
    expect(await openHomeSeal(home, {}).open(await sealed, owner)).toBe('after');
  });

  test('comes from HOOKMILL_KEY where that is set, and no file is made', async () => {
    const home = newHome();
    const seal = openHomeSeal(home, { HOOKMILL_KEY: `${randomBytes(32).toString('base64')}\n` });
    expect(await seal.open(await seal.seal('x', owner), owner)).toBe('x');
    expect(() => statSync(home.keyFile)).toThrow('ENOENT');
  });

  test.for([
    ['too short', randomBytes(31).toString('base64')],
    ['too long', randomBytes(33).toString('base64')],
    ['hexadecimal', randomBytes(32).toString('hex')],
    ['with something after it', `${randomBytes(32).toString('base64')} x`],
    ['not base64', '!'.repeat(44)],
  ] as const)('is refused when it is %s, in the variable or in the file', async ([_, key]) => {
    const home = newHome();
    await expect(openHomeSeal(home, { HOOKMILL_KEY: key }).seal('x', owner)).rejects.toMatchObject({
      code: 'key',
      message: expect.stringContaining('HOOKMILL_KEY must be 32 bytes in base64'),
    });
    await openHomeSeal(home, {}).seal('x', owner);
    writeFileSync(home.keyFile, key);
    await expect(openHomeSeal(home, {}).seal('x', owner)).rejects.toMatchObject({ code: 'key' });
  });
});

describe('a key that is being replaced', () => {
  test('opens values beside the new one until all are sealed again, also after a failure', async () => {
    const home = newHome();
    const seal = openHomeSeal(home, {});
    const before = await seal.seal('value', owner);
    const [derived] = await seal.deriveKeys('tests');
    const keys = { home, environment: {}, lockTimeoutMs: 5_000 };
    const failure = new Error('stopped');
    const stopped = rotateHomeKey(keys, async () => {
      throw failure;
    });
    await expect(stopped).rejects.toBe(failure);
    expect(await seal.open(before, owner)).toBe('value');
    expect((await seal.deriveKeys('tests'))[1]?.equals(derived)).toBe(true);
    const newKey = readFileSync(home.keyFile, 'utf8');
    const after = await rotateHomeKey(keys, () => seal.reseal(before, owner));
    expect(readFileSync(home.keyFile, 'utf8')).toBe(newKey);
    expect(await seal.open(after, owner)).toBe('value');
    expect(await seal.reseal(after, owner)).toBe(after);
    await expect(seal.open(before, owner)).rejects.toMatchObject({ code: 'key' });
    expect(await seal.deriveKeys('tests')).toHaveLength(1);
  });

  test('is needed: a home without a key has none to replace', async () => {
    const keys = { home: newHome(), environment: {}, lockTimeoutMs: 5_000 };
    await expect(rotateHomeKey(keys, async () => undefined)).rejects.toMatchObject({ code: 'key' });
  });
});
