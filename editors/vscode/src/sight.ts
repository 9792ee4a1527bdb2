// What the extension wants to know of an editor before it shows something in it.

import * as vscode from 'vscode';
import { SELECTOR } from './client.ts';
import type { TextEdit } from './protocol.ts';
import { readSettings } from './settings.ts';

/** Whether suggestions are made for it as it stands. */
export function canServe(editor: vscode.TextEditor): boolean {
  return (
    editor.selections.length === 1 &&
    vscode.languages.match(SELECTOR, editor.document) > 0 &&
    readSettings().enabled
  );
}

/** Whether the user lets VS Code show ghost text. */
export function showsGhosts(document: vscode.TextDocument): boolean {
  return vscode.workspace.getConfiguration('editor', document).get('inlineSuggest.enabled', true);
}

export function isInSight(editor: vscode.TextEditor, edits: readonly TextEdit[]): boolean {
  return edits.some((edit) =>
    editor.visibleRanges.some(
      (seen) => edit.range.end.line >= seen.start.line && edit.range.start.line <= seen.end.line,
    ),
  );
}

export function reveal(editor: vscode.TextEditor, edits: readonly TextEdit[]): void {
  const line = edits[0]?.range.start.line ?? 0;
  editor.revealRange(new vscode.Range(line, 0, line, 0), vscode.TextEditorRevealType.InCenter);
}

/** What the keys go by. */
export function setContext(key: string, value: boolean): void {
  void vscode.commands.executeCommand('setContext', key, value);
}
