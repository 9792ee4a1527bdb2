// Carries the edits of a suggestion through changes of the document, so that it can stay on screen while one types.

import { isBefore, type Position, type Range, type TextEdit } from './protocol.ts';

export interface Change {
  range: Range;
  text: string;
}

/**
 * The edits in the document after `changes`, or undefined if a change touches one of them. The changes of one event
 * all count in the document before it, as VS Code gives them.
 */
export function shiftEdits(edits: readonly TextEdit[], changes: readonly Change[]): TextEdit[] | undefined {
  // From the last to the first, so that no change moves one that is still to come.
  const ordered = [...changes].sort((a, b) => (isBefore(a.range.start, b.range.start) ? 1 : -1));
  let shifted: TextEdit[] = [...edits];
  for (const change of ordered) {
    if (shifted.some((edit) => touches(edit.range, change.range))) {
      return undefined;
    }
    shifted = shifted.map((edit) => ({ ...edit, range: shiftRange(edit.range, change) }));
  }
  return shifted;
}

/** Where a position is after a change that does not cover it. */
export function shiftPosition(position: Position, change: Change): Position {
  const { start, end } = change.range;
  if (isBefore(position, end)) {
    return position;
  }
  const lines = change.text.split(/\r\n|\r|\n/);
  const last = lines[lines.length - 1] ?? '';
  const line = position.line - (end.line - start.line) + lines.length - 1;
  if (position.line !== end.line) {
    return { line, character: position.character };
  }
  const base = lines.length === 1 ? start.character : 0;
  return { line, character: base + last.length + position.character - end.character };
}

function shiftRange(range: Range, change: Change): Range {
  return { start: shiftPosition(range.start, change), end: shiftPosition(range.end, change) };
}

/** Whether they overlap or meet: a change right beside an edit may be about the same text. */
function touches(a: Range, b: Range): boolean {
  return !isBefore(a.end, b.start) && !isBefore(b.end, a.start);
}
