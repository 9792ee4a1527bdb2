// The difference between two lines, by words, as a person would mark it.

/** A part of the old line that goes, and what comes in its place; either may be empty, not both. */
export interface Hunk {
  start: number;
  end: number;
  text: string;
}

/** Past this many words the comparison is not worth its time, and nobody reads so many marks. */
const MAX_WORDS = 200;
const MAX_HUNKS = 4;

/**
 * What turns `before` into `after`, left to right. Lines that share little, or differ in many places, are one hunk,
 * because a line full of small marks is harder to read than its new text.
 */
export function lineDiff(before: string, after: string): Hunk[] {
  if (before === after) {
    return [];
  }
  const whole = trimmed(before, after);
  const old = words(before);
  const fresh = words(after);
  if (old.length > MAX_WORDS || fresh.length > MAX_WORDS) {
    return [whole];
  }
  const hunks = wordHunks(old, fresh);
  const kept = before.trim().length - hunks.reduce((sum, hunk) => sum + hunk.end - hunk.start, 0);
  const isAlike = kept * 3 >= Math.max(before.trim().length, after.trim().length);
  return hunks.length <= MAX_HUNKS && isAlike ? hunks : [whole];
}

function words(line: string): string[] {
  return line.match(/[\p{L}\p{N}\p{M}_]+|\s+|[^\p{L}\p{N}\p{M}_\s]/gu) ?? [];
}

/** One hunk without what both lines begin and end with, cut between words. */
function trimmed(before: string, after: string): Hunk {
  const old = words(before);
  const fresh = words(after);
  let lead = 0;
  while (lead < old.length && lead < fresh.length && old[lead] === fresh[lead]) {
    lead += 1;
  }
  let tail = 0;
  while (
    tail < old.length - lead &&
    tail < fresh.length - lead &&
    old.at(-1 - tail) === fresh.at(-1 - tail)
  ) {
    tail += 1;
  }
  const start = length(old.slice(0, lead));
  const end = before.length - length(old.slice(old.length - tail));
  return { start, end, text: fresh.slice(lead, fresh.length - tail).join('') };
}

function wordHunks(old: string[], fresh: string[]): Hunk[] {
  const common = commonLengths(old, fresh);
  const hunks: Hunk[] = [];
  let open: Hunk | undefined;
  let [i, j, at] = [0, 0, 0];
  while (i < old.length || j < fresh.length) {
    const [a, b] = [old[i], fresh[j]];
    if (a !== undefined && a === b) {
      [i, j, at, open] = [i + 1, j + 1, at + a.length, undefined];
      continue;
    }
    if (open === undefined) {
      open = { start: at, end: at, text: '' };
      hunks.push(open);
    }
    const isOldFirst =
      a !== undefined && (b === undefined || lengthAt(common, i + 1, j) >= lengthAt(common, i, j + 1));
    if (isOldFirst) {
      [i, at] = [i + 1, at + a.length];
      open.end = at;
    } else {
      open.text += b ?? '';
      j += 1;
    }
  }
  return hunks;
}

/** For each pair of tails, how many words they have in common in order. */
function commonLengths(old: string[], fresh: string[]): number[][] {
  const table = Array.from({ length: old.length + 1 }, () => new Array<number>(fresh.length + 1).fill(0));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = fresh.length - 1; j >= 0; j -= 1) {
      const longest = Math.max(lengthAt(table, i + 1, j), lengthAt(table, i, j + 1));
      (table[i] ?? [])[j] = old[i] === fresh[j] ? lengthAt(table, i + 1, j + 1) + 1 : longest;
    }
  }
  return table;
}

function lengthAt(table: number[][], i: number, j: number): number {
  return table[i]?.[j] ?? 0;
}

function length(parts: string[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}
