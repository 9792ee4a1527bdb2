// Where to mark what in a document to show a suggestion: text that goes, text that comes, and whole new lines.

import { lineDiff } from './diff.ts';
import type { Position, Range, TextEdit } from './protocol.ts';

export interface Lines {
  count: number;
  at(line: number): string;
}

/** New lines, shown in a column to the right of the text, one beside each line from `line` on. */
export interface Block {
  line: number;
  texts: string[];
  /** Whether they come after the line beside which the first one stands, and replace nothing. */
  isAdded: boolean;
}

export interface Layout {
  deleted: Range[];
  inserted: { at: Position; text: string }[];
  blocks: Block[];
  /** The first line with a mark, or where the first edit is if blank lines are all that goes. */
  first: number;
}

const NEWLINE = /\r\n|\r|\n/;

export function layOut(edits: readonly TextEdit[], lines: Lines): Layout {
  const layout: Layout = { deleted: [], inserted: [], blocks: [], first: edits[0]?.range.start.line ?? 0 };
  for (const edit of edits) {
    const before = textIn(edit.range, lines);
    const after = edit.newText.split(NEWLINE);
    if (before.length === after.length) {
      markPairs(layout, edit.range.start, before, after);
    } else {
      markLines(layout, edit.range.start, before, after, lines);
    }
  }
  const marked = [
    ...layout.deleted.map((range) => range.start.line),
    ...layout.inserted.map((one) => one.at.line),
    ...layout.blocks.map((block) => block.line),
  ];
  layout.first = marked.length > 0 ? Math.min(...marked) : layout.first;
  return layout;
}

/** How many columns a text takes, where tabs end every `tabSize` columns and East Asian characters take two. */
export function columns(text: string, tabSize: number): number {
  let width = 0;
  for (const char of text) {
    if (char === '\t') {
      width += tabSize - (width % tabSize);
    } else if (!/\p{M}/u.test(char)) {
      width += WIDE.test(char) ? 2 : 1;
    }
  }
  return width;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/** The text of the range, by lines. */
function textIn(range: Range, lines: Lines): string[] {
  const texts: string[] = [];
  for (let line = range.start.line; line <= range.end.line; line += 1) {
    const text = line < lines.count ? lines.at(line) : '';
    const from = line === range.start.line ? range.start.character : 0;
    const to = line === range.end.line ? range.end.character : text.length;
    texts.push(text.slice(from, to));
  }
  return texts;
}

/** Where the line with this index of a text that begins at `start` begins. */
function beginOf(start: Position, index: number): Position {
  return index === 0 ? start : { line: start.line + index, character: 0 };
}

function markPairs(layout: Layout, start: Position, before: string[], after: string[]): void {
  before.forEach((text, index) => {
    const begin = beginOf(start, index);
    const at = (offset: number): Position => ({ line: begin.line, character: begin.character + offset });
    for (const hunk of lineDiff(text, after[index] ?? '')) {
      if (hunk.end > hunk.start) {
        layout.deleted.push({ start: at(hunk.start), end: at(hunk.end) });
      }
      if (hunk.text !== '') {
        layout.inserted.push({ at: at(hunk.end), text: hunk.text });
      }
    }
  });
}

function markLines(layout: Layout, start: Position, before: string[], after: string[], lines: Lines): void {
  const { lead, tail } = sharedEnds(before, after);
  const gone = before.slice(lead, before.length - tail);
  const come = after.slice(lead, after.length - tail);
  const begin = beginOf(start, lead);
  if (gone.length === 0) {
    const line = Math.max(0, lead > 0 ? start.line + lead - 1 : start.line - 1);
    layout.blocks.push({ line, texts: come, isAdded: true });
    return;
  }
  gone.forEach((text, index) => {
    const { line, character } = beginOf(begin, index);
    const indent = text.length - text.trimStart().length;
    if (indent < text.length) {
      layout.deleted.push({
        start: { line, character: character + indent },
        end: { line, character: character + text.length },
      });
    }
  });
  if (come.length > 0) {
    // The first line may begin in the middle of one; it is shown as it will stand.
    const prefix = lines.at(begin.line).slice(0, begin.character);
    layout.blocks.push({
      line: begin.line,
      texts: [prefix + (come[0] ?? ''), ...come.slice(1)],
      isAdded: false,
    });
  }
}

/** How many lines both texts begin and end with; never the same line twice. */
function sharedEnds(before: string[], after: string[]): { lead: number; tail: number } {
  const most = Math.min(before.length, after.length);
  let lead = 0;
  while (lead < most && before[lead] === after[lead]) {
    lead += 1;
  }
  let tail = 0;
  while (tail < most - lead && before.at(-1 - tail) === after.at(-1 - tail)) {
    tail += 1;
  }
  return { lead, tail };
}
