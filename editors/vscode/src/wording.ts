// What the user reads about a suggestion, and whether two suggestions are the same to them.

import type { Suggestion } from './protocol.ts';

/** Said behind a line: what Tab does, and why. `here` is the document that is shown. */
export function hintFor(suggestion: Suggestion, here: string): string {
  return `⇥ Tab: ${deedOf(suggestion, here)}`;
}

/** Whether the user would see the same thing; ids differ from answer to answer. */
export function isSameOffer(a: Suggestion, b: Suggestion): boolean {
  return JSON.stringify(effectOf(a)) === JSON.stringify(effectOf(b));
}

/** Whether both are about the same places, whatever they put there. */
export function isSamePlace(a: Suggestion, b: Suggestion): boolean {
  return isSameOffer(withoutText(a), withoutText(b));
}

function deedOf(suggestion: Suggestion, here: string): string {
  const { reason, uri } = suggestion;
  switch (suggestion.kind) {
    case 'edit':
      return uri === here ? reason : `go to ${fileOf(uri)} (${reason})`;
    case 'jump':
      return `go to ${placeOf(uri, suggestion.position.line, here)} (${reason.replace(/^goes to the next edit, which /, '')})`;
    case 'rename':
      return `look at a rename to ${suggestion.newName} (${reason})`;
    case 'searchAndReplace':
      return `look at a replacement everywhere (${reason})`;
  }
}

function effectOf(suggestion: Suggestion): unknown {
  const { kind, uri } = suggestion;
  switch (suggestion.kind) {
    case 'edit':
      return [
        kind,
        uri,
        suggestion.edits.map(({ range: { start, end }, newText }) => [place(start), place(end), newText]),
      ];
    case 'jump':
      return [kind, uri, place(suggestion.position)];
    case 'rename':
      return [kind, uri, place(suggestion.position), suggestion.newName];
    case 'searchAndReplace':
      return [kind, uri, suggestion.edit];
  }
}

function place({ line, character }: { line: number; character: number }): number[] {
  return [line, character];
}

function withoutText(suggestion: Suggestion): Suggestion {
  const isEdit = suggestion.kind === 'edit';
  return isEdit
    ? { ...suggestion, edits: suggestion.edits.map(({ range }) => ({ range, newText: '' })) }
    : suggestion;
}

function placeOf(uri: string, line: number, here: string): string {
  return uri === here ? `line ${line + 1}` : `${fileOf(uri)}, line ${line + 1}`;
}

function fileOf(uri: string): string {
  const name = uri.slice(uri.lastIndexOf('/') + 1);
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
