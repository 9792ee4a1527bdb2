// Next edits of the real `nudge lsp` in VS Code: what a person types, sees and gets.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { until } from './until.ts';
import type { Window } from './window.ts';
import { Workbench, setup } from './workbench.ts';

const programs = setup();
const options = typeof programs === 'string' ? { skip: programs } : {};

let workbench: Workbench;

before(async () => {
  if (typeof programs !== 'string') {
    workbench = await Workbench.start(programs);
  }
});

after(async () => workbench?.stop());

const PRICES = `fn price(items: &[Item]) -> u32 {
    let total = 1;
    print(total);
    show(total, items);
}
`;

/** A window on these files with the first one open. */
async function open(files: Record<string, string>): Promise<Window> {
  const window = await workbench.open(files);
  await window.openFile(Object.keys(files)[0] ?? '');
  return window;
}

/** Sees each of these uses struck out, with the new text behind each. */
async function seesOffer(window: Window, gone: string[], text: string): Promise<void> {
  await window.sees(`${gone} as ${text}`, async () => {
    const marks = await window.marks();
    const come = marks.come.filter((one) => one === text);
    return JSON.stringify(marks.gone) === JSON.stringify(gone) && come.length === gone.length;
  });
}

async function seesNothing(window: Window): Promise<void> {
  await window.sees('no marks', async () => JSON.stringify(await window.marks()) === '{"gone":[],"come":[]}');
}

test('the uses of a renamed variable, by Tab, and back in one step', options, async () => {
  const window = await open({ 'price.rs': PRICES });
  await window.retype(2, 9, 'total', 'amount');
  await seesOffer(window, ['total', 'total'], 'amount');
  const { come } = await window.marks();
  assert.match(come.join(' '), /⇥ Tab: renames 2 uses of `total`/);
  await window.press('Tab');
  await window.saved('price.rs', PRICES.replaceAll('total', 'amount'));
  await seesNothing(window);
  await window.press('Control+Z');
  await window.saved('price.rs', PRICES.replace('total', 'amount'));
  await window.close();
});

test('a rejected edit stays away', options, async () => {
  const window = await open({ 'price.rs': PRICES });
  await window.retype(2, 9, 'total', 'amount');
  await seesOffer(window, ['total', 'total'], 'amount');
  await window.press('Escape');
  await seesNothing(window);
  await window.goTo(5, 2);
  await window.page.keyboard.type(' // done', { delay: 40 });
  await window.answered();
  await seesNothing(window);
  await window.close();
});

test('text of several bytes and several units a character', options, async () => {
  const text = 'fn f() {\n    let größe = 1;\n    print("日本😀", größe);\n    print(größe);\n}\n';
  const window = await open({ 'a.rs': text });
  await window.retype(2, 9, 'größe', 'länge');
  await seesOffer(window, ['größe', 'größe'], 'länge');
  await window.press('Tab');
  await window.saved('a.rs', text.replaceAll('größe', 'länge'));
  await window.close();
});

test('from one file into another', options, async () => {
  const prices = 'def net_price(item):\n    return item.net\n';
  const shop = 'from prices import net_price\n\n\ndef show(item):\n    print(net_price(item))\n';
  const window = await open({
    'prices.py': prices,
    'shop.py': shop,
    '.vscode/settings.json': '{"nudge.eagerness": "high"}',
  });
  await window.openFile('shop.py');
  await window.openFile('prices.py');
  await window.retype(1, 5, 'net_price', 'clean_price');
  await window.sees('the way to the other file', async () =>
    /go to shop\.py, line 1/.test((await window.marks()).come.join()),
  );
  await window.press('Tab');
  await window.sees('the other file', async () => (await window.title()) === 'shop.py');
  await seesOffer(window, ['net_price'], 'clean_price');
  await window.press('Tab');
  await window.sees('the first edit', async () =>
    (await window.text()).startsWith('from prices import clean_price\n'),
  );
  await seesOffer(window, ['net_price'], 'clean_price');
  await window.press('Tab');
  await window.saved('shop.py', shop.replaceAll('net_price', 'clean_price'));
  await window.close();
});

test('the daemon is killed while one types', options, async () => {
  const window = await open({ 'price.rs': PRICES });
  await window.retype(2, 9, 'total', 'amo');
  const killed = daemon();
  process.kill(killed, 'SIGKILL');
  await window.page.keyboard.type('unt', { delay: 40 });
  await seesOffer(window, ['total', 'total'], 'amount');
  await window.press('Tab');
  await window.saved('price.rs', PRICES.replaceAll('total', 'amount'));
  await seesNothing(window);
  await until('another daemon', async () => daemon() !== killed);
  await window.close();
});

test('what the language server of the file says leads to an edit', options, async () => {
  const text = 'const numbers = [1, 2];\nconsole.log(numbers.lenght);\n';
  const window = await open({ 'a.ts': text });
  await window.goTo(1, 24);
  await window.page.keyboard.type(' ');
  await seesOffer(window, ['lenght'], 'length');
  await window.press('Tab');
  await window.saved('a.ts', text.replace('lenght', 'length').replace(';', '; '));
  await window.close();
});

/** The process id of the daemon that serves these windows. */
function daemon(): number {
  const nudge = typeof programs === 'string' ? '' : programs.nudge;
  const env = { ...process.env, NUDGE_DATA: workbench.data };
  const status = execFileSync(nudge, ['status'], { env, encoding: 'utf8' });
  return Number(/process (\d+)/.exec(status)?.[1]);
}
