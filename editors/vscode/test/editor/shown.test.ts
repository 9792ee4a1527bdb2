// How suggestions of every kind look in VS Code, what the keys do with them, and what is reported back. A stub makes them.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Window } from './window.ts';
import { Workbench, setup } from './workbench.ts';

const programs = setup();
const options = typeof programs === 'string' ? { skip: programs } : {};
const RULES = [
  rule('uses', 'let sum = 1;\\n.*total', edits([2, 10, 2, 15, 'sum'], [3, 9, 3, 14, 'sum'])),
  rule('call', 'compute\\(base\\n', edits([1, 16, 1, 16, ', offset, scale);'])),
  rule(
    'lines',
    'enum Shape {\\n    Round',
    edits([4, 0, 5, 0, '    match shape {\n        Round => 1,\n    }\n']),
  ),
  rule('there', 'go there', { kind: 'jump', position: { line: 2, character: 4 }, uri: 'OTHER' }),
  rule('after', 'arrived', edits([2, 4, 2, 11, 'welcome'])),
  rule('all', 'rename me', {
    kind: 'searchAndReplace',
    edit: { changes: { OTHER: [change([0, 0, 0, 5, 'FIRST'])] } },
  }),
  rule('name', 'call me', {
    kind: 'rename',
    position: { line: 1, character: 0 },
    newName: 'LAST',
    uri: 'OTHER',
    edit: { changes: { OTHER: [change([1, 0, 1, 6, 'LAST'])] } },
  }),
];
const FILES = {
  'uses.rs': 'fn main() {\n    let total = 1;\n    print(total);\n    show(total, 1);\n}\n',
  'again.rs': 'fn main() {\n    let total = 1;\n    print(total);\n    show(total, 1);\n}\n',
  'list.rs': 'fn main() {\n    let total = 1;\n    print(total);\n    show(total, summary);\n}\n',
  'call.rs': 'fn main() {\n    compute(\n}\n',
  'lines.rs': 'enum Shape {\n    \n}\nfn area(shape: Shape) -> u8 {\n    0\n}\n',
  'from.txt': 'here\n\n',
  'other.txt': 'first\nsecond\n    arrived here\n',
  'all.txt': 'one\n',
  'name.txt': 'one\n',
};

let workbench: Workbench;
let window: Window;

before(async () => {
  if (typeof programs !== 'string') {
    workbench = await Workbench.start({ ...programs, nudge: join(import.meta.dirname, 'stub.mjs') });
    window = await workbench.open({ ...FILES, '.stub/rules.json': '[]', '.stub/said': '' });
    window.write('.stub/rules.json', JSON.stringify(RULES).replaceAll('OTHER', window.uri('other.txt')));
  }
});

after(async () => workbench?.stop());

function rule(name: string, when: string, suggestion: object): object {
  return { name, when, suggestion: { reason: `for ${name}`, ...suggestion } };
}

function change([line, character, endLine, endCharacter, newText]: [
  number,
  number,
  number,
  number,
  string,
]): object {
  return { range: { start: { line, character }, end: { line: endLine, character: endCharacter } }, newText };
}

function edits(...changes: [number, number, number, number, string][]): object {
  return { kind: 'edit', edits: changes.map(change) };
}

/** What became of the suggestions of this rule. */
function said(name: string): string[] {
  const lines = readFileSync(join(window.folder, '.stub/said'), 'utf8').trim().split('\n');
  return lines
    .filter((line) => line.includes(`"${name}"`))
    .map((line) => line.replace(/"id":"\w+",?/, '').replace(' {}', ''));
}

async function seesMarks(gone: string[], come: string[]): Promise<void> {
  await window.sees(`marks ${gone} and ${come}`, async () => {
    const marks = await window.marks();
    return JSON.stringify(marks) === JSON.stringify({ gone, come });
  });
}

test('edits away from the cursor are marked, taken by Tab and undone in one step', options, async () => {
  await window.openFile('uses.rs');
  await window.retype(2, 9, 'total', 'sum');
  await seesMarks(['total', 'total'], ['sum', '⇥ Tab: for uses', 'sum']);
  await window.press('Tab');
  await seesMarks([], []);
  const renamed = FILES['uses.rs'].replaceAll('total', 'sum');
  await window.saved('uses.rs', renamed);
  assert.deepEqual(said('uses'), ['nudge/accept']);
  await window.press('Control+Z');
  await window.saved('uses.rs', FILES['uses.rs'].replace('let total', 'let sum'));
});

test('Escape rejects', options, async () => {
  window.write('.stub/said', '');
  await window.command('Nudge: Restart');
  await window.openFile('again.rs');
  await window.retype(2, 9, 'total', 'sum');
  await seesMarks(['total', 'total'], ['sum', '⇥ Tab: for uses', 'sum']);
  await window.press('Escape');
  await seesMarks([], []);
  await window.goTo(3, 1);
  await window.press('Tab');
  await window.sees('a Tab is a Tab again', async () =>
    (await window.text()).includes('        print(total);'),
  );
  assert.equal(said('uses').at(-1), 'nudge/reject {"reason":"rejected"}');
  await window.press('Control+Z');
});

test('Tab belongs to the list of completions while it is open, and to a selection', options, async () => {
  await window.command('Nudge: Restart');
  await window.openFile('list.rs');
  await window.retype(2, 9, 'total', 'sum');
  await seesMarks(['total', 'total'], ['sum', '⇥ Tab: for uses', 'sum']);
  await window.press('Control+Space');
  await window.page.waitForSelector(
    '.suggest-widget.visible .monaco-list-row.focused[aria-label^="summary"]',
  );
  await window.press('Tab');
  await window.saved('list.rs', FILES['list.rs'].replace('let total', 'let summary'));
  await window.press('Control+Z');
  await seesMarks(['total', 'total'], ['sum', '⇥ Tab: for uses', 'sum']);
  await window.goTo(2, 1);
  await window.press('Shift+ArrowDown', 'Tab');
  await window.sees('the line indented', async () => (await window.text()).includes('        let sum = 1;'));
  await window.press('Control+Z', 'Escape', 'Escape');
});

test('what can be added at the cursor is ghost text, taken by the word and whole', options, async () => {
  await window.openFile('call.rs');
  await window.goTo(2, 13);
  await window.page.keyboard.type('base');
  await window.sees('ghost text', async () => (await window.ghost()).includes(', offset, scale);'));
  assert.deepEqual(await window.marks(), { gone: [], come: [] });
  await window.press('Control+ArrowRight');
  await window.sees('a word of it', async () => (await window.ghost()) === 'offset, scale);');
  await window.press('Tab');
  await window.sees('the call', async () => (await window.text()).includes('compute(base, offset, scale);'));
  assert.equal(said('call')[0], 'nudge/accept {"part":"word"}');
  await window.sees('the report', async () => said('call').at(-1) === 'nudge/accept');
});

test('new lines stand beside the text they replace', options, async () => {
  await window.openFile('lines.rs');
  await window.goTo(2, 5);
  await window.page.keyboard.type('Round,', { delay: 30 });
  await window.sees('the block', async () =>
    (await window.marks()).come.some((text) => text.includes('match shape {')),
  );
  await window.press('Tab');
  const area = '    match shape {\n        Round => 1,\n    }\n';
  await window.saved(
    'lines.rs',
    FILES['lines.rs'].replace('    \n', '    Round,\n').replace('    0\n', area),
  );
});

test('a jump leads into another file, where the edit waits', options, async () => {
  await window.openFile('from.txt');
  await window.goTo(2, 1);
  await window.page.keyboard.type('go there ');
  await seesMarks([], ['⇥ Tab: go to other.txt, line 3 (for there)']);
  await window.press('Tab');
  await window.sees('the other file', async () => (await window.title()) === 'other.txt');
  await seesMarks(['arrived'], ['welcome', '⇥ Tab: for after']);
  assert.equal(await window.cursor(), 'Ln 3, Col 5');
  await window.press('Tab');
  await window.saved('other.txt', FILES['other.txt'].replace('arrived', 'welcome'));
});

test('changes of several files are looked at first', options, async () => {
  await window.openFile('all.txt');
  await window.goTo(1, 1);
  await window.page.keyboard.type('rename me ');
  await seesMarks([], ['⇥ Tab: look at a replacement everywhere (for all)']);
  await window.press('Tab');
  await window.page.waitForSelector('text=Refactor Preview', { timeout: 10_000 });
});

test('a rename is looked at first too, where the language has none of its own', options, async () => {
  await window.page.click('.bulk-edit-panel .buttons >> text=Discard');
  await window.page.waitForSelector('.bulk-edit-panel >> text=other.txt', { state: 'hidden' });
  await window.openFile('name.txt');
  await window.goTo(1, 1);
  await window.page.keyboard.type('call me ');
  await seesMarks([], ['⇥ Tab: look at a rename to LAST (for name)']);
  await window.press('Tab');
  await window.page.waitForSelector('.bulk-edit-panel >> text=other.txt', { timeout: 10_000 });
});
