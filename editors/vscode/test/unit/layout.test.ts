// Where the marks of a suggestion go.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { columns, layOut, type Layout } from '../../src/layout.ts';
import type { TextEdit } from '../../src/protocol.ts';

const TEXT = ['fn main() {', '    let total = 1;', '    print(total);', '}'];

function edit(from: [number, number], to: [number, number], newText: string): TextEdit {
  const at = ([line, character]: [number, number]) => ({ line, character });
  return { range: { start: at(from), end: at(to) }, newText };
}

/** The layout in a line for each mark. */
function told(layout: Layout): string[] {
  return [
    ...layout.deleted.map(
      ({ start, end }) => `- ${start.line}:${start.character} ${end.line}:${end.character}`,
    ),
    ...layout.inserted.map(({ at, text }) => `+ ${at.line}:${at.character} ${text}`),
    ...layout.blocks.map(
      ({ line, texts, isAdded }) => `${isAdded ? 'after' : 'for'} ${line} ${texts.join('|')}`,
    ),
  ];
}

function check(edits: TextEdit[], expected: string[], first: number): void {
  const layout = layOut(edits, { count: TEXT.length, at: (line) => TEXT[line] ?? '' });
  assert.deepEqual(told(layout), expected);
  assert.equal(layout.first, first);
}

test('a word is struck out and the new one stands behind it', () => {
  check([edit([2, 10], [2, 15], 'sum')], ['- 2:10 2:15', '+ 2:15 sum'], 2);
});

test('an edit that covers more than it changes is marked where it changes', () => {
  const newText = '    let sum = 1;\n    print(sum);';
  check([edit([1, 0], [2, 17], newText)], ['- 1:8 1:13', '- 2:10 2:15', '+ 1:13 sum', '+ 2:15 sum'], 1);
});

test('new lines behind a line, given either way', () => {
  check([edit([1, 18], [1, 18], '\n    total += 1;')], ['after 1     total += 1;'], 1);
  check([edit([2, 0], [2, 0], '    total += 1;\n')], ['after 1     total += 1;'], 1);
});

test('lines that go', () => {
  check([edit([1, 0], [2, 0], '')], ['- 1:4 1:18'], 1);
  check([edit([1, 0], [3, 0], '')], ['- 1:4 1:18', '- 2:4 2:17'], 1);
});

test('blank lines that go have no marks', () => {
  const layout = layOut([edit([1, 0], [2, 0], '')], { count: 3, at: () => '' });
  assert.deepEqual([told(layout), layout.first], [[], 1]);
});

test('one line becomes two', () => {
  check(
    [edit([2, 4], [2, 17], 'show(total);\n    done();')],
    ['- 2:4 2:17', 'for 2     show(total);|    done();'],
    2,
  );
});

test('columns count tabs and wide characters', () => {
  assert.equal(columns('\tab', 4), 6);
  assert.equal(columns('a\tb', 4), 5);
  assert.equal(columns('日本', 4), 4);
  assert.equal(columns('e\u0301', 4), 1);
});
