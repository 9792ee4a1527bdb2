// The marks within a line.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lineDiff } from '../../src/diff.ts';

/** Writes the hunks into the line: [-gone-]{+come+}. */
function marked(before: string, after: string): string {
  let at = 0;
  let text = '';
  for (const { start, end, text: come } of lineDiff(before, after)) {
    text += before.slice(at, start);
    text += start < end ? `[-${before.slice(start, end)}-]` : '';
    text += come === '' ? '' : `{+${come}+}`;
    at = end;
  }
  return text + before.slice(at);
}

const CASES: [before: string, after: string, marks: string][] = [
  ['same', 'same', 'same'],
  ['let total = 1;', 'let sum = 1;', 'let [-total-]{+sum+} = 1;'],
  ['total += f(total);', 'sum += f(sum);', '[-total-]{+sum+} += f([-total-]{+sum+});'],
  ['f(a)', 'f(a, b)', 'f(a{+, b+})'],
  ['f(a, b)', 'f(a)', 'f(a[-, b-])'],
  ['', 'new', '{+new+}'],
  ['old', '', '[-old-]'],
  ['größe = größe + 1', 'länge = länge + 1', '[-größe-]{+länge+} = [-größe-]{+länge+} + 1'],
  ['a😀b', 'a🎈b', 'a[-😀-]{+🎈+}b'],
  // Little in common: one hunk instead of a line full of marks.
  [
    'if (x) { return y; }',
    'const z = await load(y);',
    '[-if (x) { return y; }-]{+const z = await load(y);+}',
  ],
  // Many places: one hunk from the first to the last.
  [
    'a1 b c1 d e1 f g1 h i1',
    'a2 b c2 d e2 f g2 h i2',
    '[-a1 b c1 d e1 f g1 h i1-]{+a2 b c2 d e2 f g2 h i2+}',
  ],
];

for (const [before, after, marks] of CASES) {
  test(`${JSON.stringify(before)} to ${JSON.stringify(after)}`, () => {
    assert.equal(marked(before, after), marks);
  });
}

test('a hunk list always yields the new line', () => {
  for (const [before, after] of CASES) {
    const result = lineDiff(before, after)
      .reverse()
      .reduce((line, hunk) => line.slice(0, hunk.start) + hunk.text + line.slice(hunk.end), before);
    assert.equal(result, after);
  }
});
