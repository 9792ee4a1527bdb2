// Whether a suggestion can be shown as ghost text at the cursor, and what the user has taken of one.

import { isBefore, type EditSuggestion, type Position, type Range } from './protocol.ts';

export interface Ghost {
  range: Range;
  /** What stands in `range` once the suggestion is taken. */
  text: string;
  /** What is new in it: the ghost text itself. */
  inserted: string;
}

/**
 * The suggestion as ghost text, if it only adds at the cursor: one edit on the cursor's line that keeps what it
 * covers before and after the cursor. `line` is the text of the cursor's line.
 */
export function asGhost(suggestion: EditSuggestion, cursor: Position, line: string): Ghost | undefined {
  const [edit, ...others] = suggestion.edits;
  if (edit === undefined || others.length > 0) {
    return undefined;
  }
  const { start, end } = edit.range;
  if (
    start.line !== cursor.line ||
    end.line !== cursor.line ||
    isBefore(cursor, start) ||
    isBefore(end, cursor)
  ) {
    return undefined;
  }
  const before = line.slice(start.character, cursor.character);
  const after = line.slice(cursor.character, end.character);
  const kept = before.length + after.length;
  if (edit.newText.length <= kept || !edit.newText.startsWith(before) || !edit.newText.endsWith(after)) {
    return undefined;
  }
  const inserted = edit.newText.slice(before.length, edit.newText.length - after.length);
  return { range: edit.range, text: edit.newText, inserted };
}

/**
 * Which part of the ghost text a change took: VS Code tells nobody about a partial accept, but it inserts several
 * characters at once, which typing does not. The whole of it is reported by the item's command instead.
 */
export function takenPart(inserted: string, change: string): 'word' | 'line' | undefined {
  if (change.length < 2 || change.length >= inserted.length || !inserted.startsWith(change)) {
    return undefined;
  }
  return change.includes('\n') || inserted[change.length] === '\n' ? 'line' : 'word';
}
