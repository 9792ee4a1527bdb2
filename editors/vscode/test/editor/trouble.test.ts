// When `nudge` is not there, and when it dies.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Window } from './window.ts';
import { type Setup, Workbench, setup } from './workbench.ts';

const programs = setup();
const options = typeof programs === 'string' ? { skip: programs } : {};
const TEXT = 'fn main() {\n    let total = 1;\n    print(total);\n}\n';

let workbench: Workbench;
let window: Window;

before(async () => {
  if (typeof programs !== 'string') {
    workbench = await Workbench.start({ ...programs, nudge: 'nudge-that-is-not-there' });
    window = await workbench.open({ 'a.rs': TEXT, 'b.rs': TEXT }, 'failed');
  }
});

after(async () => workbench?.stop());

async function renames(name: string): Promise<void> {
  await window.openFile(name);
  await window.retype(2, 9, 'total', 'sum');
  await window.sees('the offer', async () => (await window.marks()).come.includes('sum'));
  await window.press('Tab');
  await window.saved(name, TEXT.replaceAll('total', 'sum'));
}

test('the message says what to do, and the setting helps at once', options, async () => {
  const message = window.page.locator('.notification-toast', {
    hasText: '"nudge-that-is-not-there" was not found',
  });
  await message.waitFor();
  assert.match((await message.textContent()) ?? '', /Install nudge, or set "nudge\.path" to where it is/);
  assert.equal(await window.page.locator('.notification-toast').count(), 1);
  window.write('.vscode/settings.json', JSON.stringify({ 'nudge.path': (programs as Setup).nudge }));
  await window.is('on');
  await renames('a.rs');
});

test('a server that dies is started again', options, async () => {
  const first = servers();
  assert.equal(first.length, 1);
  first.forEach((server) => process.kill(server, 'SIGKILL'));
  await window.sees('another one', async () => servers().some((server) => !first.includes(server)));
  await window.is('on');
  await renames('b.rs');
  assert.equal(servers().length, 1);
});

/** The processes `nudge lsp` of this window. */
function servers(): number[] {
  const isOurs = (id: string): boolean => {
    try {
      const words = readFileSync(`/proc/${id}/cmdline`, 'utf8').split('\0');
      return (
        words[1] === 'lsp' &&
        readFileSync(`/proc/${id}/environ`, 'utf8').includes(`NUDGE_DATA=${workbench.data}\0`)
      );
    } catch {
      return false;
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isOurs(name))
    .map(Number);
}
