// What the user reads, when two suggestions are one to them, and when a server is given up.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Suggestion } from '../../src/protocol.ts';
import { Restarts } from '../../src/restarts.ts';
import { hintFor, isSameOffer, isSamePlace } from '../../src/wording.ts';

const HERE = 'file:///w/a.rs';
const THERE = 'file:///w/sub/b%20c.rs';
const start = { line: 4, character: 2 };

function edit(id: string, newText: string, uri = HERE): Suggestion {
  return {
    id,
    kind: 'edit',
    uri,
    version: 1,
    reason: 'because',
    edits: [{ range: { start, end: start }, newText }],
  };
}

function jump(uri: string, reason = 'because'): Suggestion {
  return { id: 'j', kind: 'jump', uri, position: start, reason };
}

test('hints', () => {
  assert.equal(hintFor(edit('1', 'x'), HERE), '⇥ Tab: because');
  assert.equal(hintFor(edit('1', 'x', THERE), HERE), '⇥ Tab: go to b c.rs (because)');
  assert.equal(hintFor(jump(HERE), HERE), '⇥ Tab: go to line 5 (because)');
  assert.equal(hintFor(jump(THERE), HERE), '⇥ Tab: go to b c.rs, line 5 (because)');
  assert.equal(
    hintFor(jump(THERE, 'goes to the next edit, which renames a use'), HERE),
    '⇥ Tab: go to b c.rs, line 5 (renames a use)',
  );
  const rename = { position: start, newName: 'sum', edit: null, reason: 'because' };
  assert.equal(
    hintFor({ id: 'r', kind: 'rename', uri: HERE, ...rename }, HERE),
    '⇥ Tab: look at a rename to sum (because)',
  );
  assert.equal(
    hintFor(jump('file:///w/%zz'), HERE),
    '⇥ Tab: go to %zz, line 5 (because)',
    'a name that is no encoding',
  );
});

test('the same edit under another id is the same offer', () => {
  assert.equal(isSameOffer(edit('1', 'x'), edit('2', 'x')), true);
  assert.equal(isSameOffer(edit('1', 'x'), edit('1', 'y')), false);
  assert.equal(isSameOffer(edit('1', 'x'), edit('1', 'x', THERE)), false);
  assert.equal(isSameOffer(edit('1', 'x'), jump(HERE)), false);
  assert.equal(isSamePlace(edit('1', 'su'), edit('2', 'sum')), true);
  assert.equal(isSamePlace(edit('1', 'x'), edit('1', 'x', THERE)), false);
});

test('a server that keeps ending is given up, and forgiven after a while', () => {
  const restarts = new Restarts();
  const quick = [0, 1, 2, 3, 4].map((second) => restarts.mayRestart(second * 1000));
  assert.deepEqual(quick, [true, true, true, true, true]);
  assert.equal(restarts.mayRestart(5000), false);
  assert.equal(restarts.mayRestart(61_000), true);
});
