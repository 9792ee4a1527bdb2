// What can be shown as ghost text, and what of it was taken.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asGhost, takenPart } from '../../src/ghost.ts';
import type { EditSuggestion } from '../../src/protocol.ts';

/** The line has its cursor at `|`; the edit replaces `from..to` of the line without it. */
function ghost(
  marked: string,
  from: number,
  to: number,
  newText: string,
  more: EditSuggestion['edits'] = [],
) {
  const character = marked.indexOf('|');
  const range = { start: { line: 3, character: from }, end: { line: 3, character: to } };
  const suggestion: EditSuggestion = {
    id: 's',
    kind: 'edit',
    uri: 'file:///a',
    version: 1,
    reason: '',
    edits: [{ range, newText }, ...more],
  };
  return asGhost(suggestion, { line: 3, character }, marked.replace('|', ''))?.inserted;
}

const CASES: [what: string, actual: string | undefined, expected: string | undefined][] = [
  ['an insertion at the cursor', ghost('let x|', 5, 5, ' = 1;'), ' = 1;'],
  ['a word that is finished', ghost('pri|', 0, 3, 'print()'), 'nt()'],
  ['text behind the cursor that stays', ghost('f(|)', 0, 3, 'f(a, b)'), 'a, b'],
  ['several lines', ghost('{|', 1, 1, '\n  a\n}'), '\n  a\n}'],
  ['an insertion elsewhere on the line', ghost('let x|', 3, 3, ' mut'), undefined],
  ['what changes text before the cursor', ghost('lett|', 0, 4, 'letter x'), 'er x'],
  ['what replaces text before the cursor', ghost('foo|', 0, 3, 'bar()'), undefined],
  ['what replaces text behind the cursor', ghost('f(|a)', 2, 3, 'bc'), undefined],
  ['what only deletes', ghost('ab|', 0, 2, 'a'), undefined],
  ['nothing new', ghost('ab|', 0, 2, 'ab'), undefined],
];

for (const [what, actual, expected] of CASES) {
  test(what, () => assert.equal(actual, expected));
}

test('several edits are no ghost text', () => {
  const other = { range: { start: { line: 9, character: 0 }, end: { line: 9, character: 1 } }, newText: 'b' };
  assert.equal(ghost('let x|', 5, 5, ' = 1;', [other]), undefined);
});

test('a part that was taken', () => {
  assert.equal(takenPart(' = compute();', ' = '), 'word');
  assert.equal(takenPart('one;\ntwo;', 'one;'), 'line');
  assert.equal(takenPart(' = 1;', ' '), undefined, 'one character is typed');
  assert.equal(takenPart(' = 1;', ' = 1;'), undefined, 'all of it is no part');
  assert.equal(takenPart(' = 1;', 'xy'), undefined, 'something else');
});
