// Edits that stay right while the user types elsewhere.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Range, TextEdit } from '../../src/protocol.ts';
import { shiftEdits } from '../../src/shift.ts';

function range(text: string): Range {
  const [line = 0, character = 0, endLine = 0, endCharacter = 0] = text.split(/[: ]/).map(Number);
  return { start: { line, character }, end: { line: endLine, character: endCharacter } };
}

function shifted(edit: string, changes: [at: string, text: string][]): string | undefined {
  const edits: TextEdit[] = [{ range: range(edit), newText: 'x' }];
  const result = shiftEdits(
    edits,
    changes.map(([at, text]) => ({ range: range(at), text })),
  );
  const place = result?.[0]?.range;
  return place && `${place.start.line}:${place.start.character} ${place.end.line}:${place.end.character}`;
}

const CASES: [what: string, edit: string, changes: [string, string][], expected: string | undefined][] = [
  ['typing on another line', '5:4 5:9', [['2:3 2:3', 'a']], '5:4 5:9'],
  ['typing behind it', '5:4 5:9', [['5:12 5:12', 'a']], '5:4 5:9'],
  ['typing before it on its line', '5:4 5:9', [['5:1 5:1', 'ab']], '5:6 5:11'],
  ['a new line before it', '5:4 5:9', [['2:3 2:3', '\n']], '6:4 6:9'],
  ['a new line before it on its line', '5:4 5:9', [['5:2 5:2', '\n  ']], '6:4 6:9'],
  ['joining its line to the one before', '5:4 5:9', [['4:7 5:2', '']], '4:9 4:14'],
  ['deleting lines before it', '5:4 5:9', [['1:0 3:0', '']], '3:4 3:9'],
  ['typing inside it', '5:4 5:9', [['5:6 5:6', 'a']], undefined],
  ['typing right before it', '5:4 5:9', [['5:4 5:4', 'a']], undefined],
  ['typing right behind it', '5:4 5:9', [['5:9 5:9', 'a']], undefined],
  [
    'two changes at once, in any order',
    '5:4 5:9',
    [
      ['1:0 1:0', '\n'],
      ['5:1 5:1', 'ab'],
    ],
    '6:6 6:11',
  ],
  [
    'two changes at once, the other order',
    '5:4 5:9',
    [
      ['5:1 5:1', 'ab'],
      ['1:0 1:0', '\n'],
    ],
    '6:6 6:11',
  ],
];

for (const [what, edit, changes, expected] of CASES) {
  test(what, () => assert.equal(shifted(edit, changes), expected));
}
