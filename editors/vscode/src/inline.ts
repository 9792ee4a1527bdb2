// Gives VS Code the ghost text at the cursor.

import * as vscode from 'vscode';
import type { Asker } from './asker.ts';
import type { Ghost } from './ghost.ts';
import { rangeOf } from './marks.ts';
import type { Offers } from './offers.ts';

export class InlineProvider implements vscode.InlineCompletionItemProvider {
  readonly #asker: Asker;
  readonly #offers: Offers;

  constructor(asker: Asker, offers: Offers) {
    this.#asker = asker;
    this.#offers = offers;
  }

  async provideInlineCompletionItems(
    document: vscode.TextDocument,
    position: vscode.Position,
    context: vscode.InlineCompletionContext,
    token: vscode.CancellationToken,
  ): Promise<vscode.InlineCompletionItem[]> {
    const editor = vscode.window.activeTextEditor;
    if (editor?.document !== document || !editor.selection.active.isEqual(position)) {
      return [];
    }
    const answer = await this.#asker.ask(editor, 'automatic');
    const ghost = this.#offers.ghostOf(editor, answer?.suggestion);
    if (token.isCancellationRequested || answer?.suggestion === undefined || ghost === undefined) {
      return [];
    }
    if (context.selectedCompletionInfo !== undefined && !continues(ghost, context.selectedCompletionInfo)) {
      return [];
    }
    const command = { title: 'Accept', command: 'nudge.ghostTaken', arguments: [answer.suggestion.id] };
    return [new vscode.InlineCompletionItem(ghost.text, rangeOf(ghost.range), command)];
  }
}

/** While the list of completions is open, only what goes on from its selected entry may be shown. */
function continues(ghost: Ghost, selected: vscode.SelectedCompletionInfo): boolean {
  return rangeOf(ghost.range).isEqual(selected.range) && ghost.text.startsWith(selected.text);
}
