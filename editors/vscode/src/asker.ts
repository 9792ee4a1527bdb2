// Asks the server for the next edit, once for each state of document and cursor, whoever wants to know.

import * as vscode from 'vscode';
import type { Client } from './client.ts';
import { method, type SuggestParams, type SuggestResult, type Suggestion, type Trigger } from './protocol.ts';

export interface Answer {
  suggestion: Suggestion | undefined;
  /** Why there is nothing, when the server says so. */
  why: string | undefined;
  /** From the question to the answer, as the editor sees it. */
  milliseconds: number;
}

/** What can change an answer; `salt` is what neither document nor cursor show, such as diagnostics. */
function keyOf(document: vscode.TextDocument, position: vscode.Position, salt: number): string {
  return `${document.uri.toString()} ${document.version} ${position.line}:${position.character} ${salt}`;
}

export class Asker implements vscode.Disposable {
  readonly #client: Client;
  readonly #output: vscode.LogOutputChannel;
  #salt = 0;
  #last:
    { key: string; answer: Promise<Answer | undefined>; cancel: vscode.CancellationTokenSource } | undefined;

  constructor(client: Client, output: vscode.LogOutputChannel) {
    this.#client = client;
    this.#output = output;
  }

  /** The answer for the editor as it stands; undefined if it was overtaken or the server is not there. */
  ask(editor: vscode.TextEditor, trigger: Trigger): Promise<Answer | undefined> {
    if (trigger !== 'automatic') {
      this.forget();
    }
    const key = keyOf(editor.document, editor.selection.active, this.#salt);
    if (this.#last?.key === key) {
      return this.#last.answer;
    }
    this.#last?.cancel.cancel();
    const cancel = new vscode.CancellationTokenSource();
    const answer = this.#request(editor, trigger, cancel.token);
    this.#last = { key, answer, cancel };
    return answer;
  }

  /** The next question is asked anew, also if nothing has changed that can be seen. */
  forget(): void {
    this.#salt += 1;
  }

  dispose(): void {
    this.#last?.cancel.cancel();
  }

  async #request(
    editor: vscode.TextEditor,
    trigger: Trigger,
    token: vscode.CancellationToken,
  ): Promise<Answer | undefined> {
    const connection = this.#client.running;
    if (connection === undefined) {
      return undefined;
    }
    const began = performance.now();
    try {
      const params = questionAbout(editor, trigger, (uri) => connection.code2ProtocolConverter.asUri(uri));
      const result = await connection.sendRequest<SuggestResult>(method.suggest, params, token);
      const milliseconds = performance.now() - began;
      return token.isCancellationRequested
        ? undefined
        : { suggestion: result.suggestions[0], why: result.why, milliseconds };
    } catch (error) {
      // Overtaken questions end like this all the time.
      this.#output.trace(`${method.suggest}: ${String(error)}`);
      return undefined;
    }
  }
}

function questionAbout(
  editor: vscode.TextEditor,
  trigger: Trigger,
  asUri: (uri: vscode.Uri) => string,
): SuggestParams {
  const { document, selection } = editor;
  const visible = editor.visibleRanges[0];
  return {
    textDocument: { uri: asUri(document.uri), version: document.version },
    position: plainPosition(selection.active),
    ...(selection.isEmpty ? {} : { selection: plainRange(selection) }),
    ...(visible === undefined ? {} : { visible: plainRange(visible) }),
    trigger,
  };
}

export function plainPosition(position: vscode.Position): { line: number; character: number } {
  return { line: position.line, character: position.character };
}

export function plainRange(range: vscode.Range): SuggestParams['visible'] & object {
  return { start: plainPosition(range.start), end: plainPosition(range.end) };
}
