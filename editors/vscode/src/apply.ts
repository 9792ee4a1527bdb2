// Takes a suggestion: edits as one step of undo, changes over several files after a look at them, a jump by going there.

import * as vscode from 'vscode';
import type { Protocol2CodeConverter } from 'vscode-languageclient/node';
import { rangeOf } from './marks.ts';
import type { EditSuggestion, RenameSuggestion, Suggestion } from './protocol.ts';

/** Whether it was done. `here` is the document of the editor, as the server names it. */
export async function take(
  suggestion: Suggestion,
  editor: vscode.TextEditor,
  here: string,
  converter: Protocol2CodeConverter,
): Promise<boolean> {
  const uri = converter.asUri(suggestion.uri);
  switch (suggestion.kind) {
    case 'edit':
      return suggestion.uri === here
        ? apply(editor, suggestion)
        : jump(uri, suggestion.edits[0]?.range.start);
    case 'jump':
      return jump(uri, suggestion.position);
    case 'rename': {
      const edit =
        (await renameByLanguage(uri, suggestion)) ?? (await converter.asWorkspaceEdit(suggestion.edit));
      return edit !== undefined && preview(edit, suggestion.reason);
    }
    case 'searchAndReplace': {
      const edit = await converter.asWorkspaceEdit(suggestion.edit);
      return edit !== undefined && preview(edit, suggestion.reason);
    }
  }
}

/** What the language's own extension would change; it knows better, but not every language has one that renames. */
async function renameByLanguage(
  uri: vscode.Uri,
  { position, newName }: RenameSuggestion,
): Promise<vscode.WorkspaceEdit | undefined> {
  const at = new vscode.Position(position.line, position.character);
  try {
    const command = 'vscode.executeDocumentRenameProvider';
    const edit = await vscode.commands.executeCommand<vscode.WorkspaceEdit | undefined>(
      command,
      uri,
      at,
      newName,
    );
    return edit !== undefined && edit.size > 0 ? edit : undefined;
  } catch {
    return undefined;
  }
}

/** Makes the edits; the cursor then stands where the user would go on typing. */
async function apply(editor: vscode.TextEditor, suggestion: EditSuggestion): Promise<boolean> {
  if (suggestion.version !== editor.document.version) {
    return false;
  }
  const isDone = await editor.edit((builder) => {
    for (const edit of suggestion.edits) {
      builder.replace(rangeOf(edit.range), edit.newText);
    }
  });
  if (isDone && suggestion.cursor != null) {
    const at = new vscode.Position(suggestion.cursor.line, suggestion.cursor.character);
    editor.selection = new vscode.Selection(at, at);
    editor.revealRange(editor.selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }
  return isDone;
}

async function jump(uri: vscode.Uri, target = { line: 0, character: 0 }): Promise<boolean> {
  const at = new vscode.Position(target.line, target.character);
  const selection = new vscode.Range(at, at);
  const document = await vscode.workspace.openTextDocument(uri);
  const editor = await vscode.window.showTextDocument(document, { selection });
  editor.revealRange(selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  return true;
}

/** Shows all changes in VS Code's refactor preview, where the user picks and applies them. */
async function preview(edit: vscode.WorkspaceEdit, label: string): Promise<boolean> {
  if (edit.entries().length < edit.size) {
    // It has more than texts, which cannot be asked about one by one.
    return vscode.workspace.applyEdit(edit, { isRefactoring: true });
  }
  const asked = new vscode.WorkspaceEdit();
  const metadata = { needsConfirmation: true, label };
  for (const [uri, edits] of edit.entries()) {
    const confirmed = edits.map((one): [vscode.TextEdit, vscode.WorkspaceEditEntryMetadata] => [
      one,
      metadata,
    ]);
    asked.set(uri, confirmed);
  }
  return vscode.workspace.applyEdit(asked, { isRefactoring: true });
}
