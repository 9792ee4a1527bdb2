// What is on offer now: shows the answer of the server, takes or drops it as the user decides, and reports what became of it.

import * as vscode from 'vscode';
import { take } from './apply.ts';
import type { Answer, Asker } from './asker.ts';
import type { Client } from './client.ts';
import { asGhost, takenPart, type Ghost } from './ghost.ts';
import type { Marks } from './marks.ts';
import { method, type Farewell, type Suggestion, type Trigger } from './protocol.ts';
import { readSettings } from './settings.ts';
import { shiftEdits } from './shift.ts';
import { canServe, isInSight, reveal, setContext, showsGhosts } from './sight.ts';
import { hintFor, isSameOffer, isSamePlace } from './wording.ts';

/** Long enough to leave out what fast typing overtakes, too short to be noticed. */
const PAUSE_MS = 25;

interface Offer {
  suggestion: Suggestion;
  editor: vscode.TextEditor;
  /** Set if it is shown as ghost text by VS Code, not by marks. */
  ghost: Ghost | undefined;
  /** Whether a part of it was taken already. */
  isBegun: boolean;
  /** Whether the document has changed since the server made it. */
  isStale: boolean;
}

export class Offers implements vscode.Disposable {
  readonly #client: Client;
  readonly #asker: Asker;
  readonly #marks: Marks;
  readonly #answers = new vscode.EventEmitter<Answer>();
  readonly onAnswer = this.#answers.event;
  #offer: Offer | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(client: Client, asker: Asker, marks: Marks) {
    this.#client = client;
    this.#asker = asker;
    this.#marks = marks;
  }

  /** Asks soon; the last call within the pause counts. */
  askSoon(trigger: Trigger = 'automatic'): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.askNow(trigger), PAUSE_MS);
  }

  async askNow(trigger: Trigger): Promise<Answer | undefined> {
    clearTimeout(this.#timer);
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined || !canServe(editor)) {
      this.drop('cancelled');
      return undefined;
    }
    const { version } = editor.document;
    const cursor = editor.selection.active;
    const answer = await this.#asker.ask(editor, trigger);
    const isStill = editor === vscode.window.activeTextEditor && editor.document.version === version;
    if (answer === undefined || !isStill || !editor.selection.active.isEqual(cursor)) {
      return undefined;
    }
    this.#answers.fire(answer);
    this.#present(editor, answer.suggestion);
    return answer;
  }

  /** Keeps the offer on screen through a change that does not touch it. */
  changed(event: vscode.TextDocumentChangeEvent): void {
    const offer = this.#offer;
    if (
      offer === undefined ||
      offer.editor.document !== event.document ||
      event.contentChanges.length === 0
    ) {
      return;
    }
    if (offer.ghost !== undefined) {
      offer.isBegun ||= this.#reportPart(offer.suggestion.id, offer.ghost, event.contentChanges);
      return;
    }
    if (offer.suggestion.kind === 'jump') {
      return;
    }
    if (offer.suggestion.kind !== 'edit') {
      this.#offer = { ...offer, isStale: true };
      return;
    }
    const edits = shiftEdits(offer.suggestion.edits, event.contentChanges);
    if (edits === undefined) {
      this.drop('ignored');
    } else {
      const suggestion = { ...offer.suggestion, edits, version: event.document.version };
      this.#offer = { ...offer, suggestion, isStale: true };
    }
  }

  async accept(): Promise<void> {
    const offer = await this.#fresh();
    if (offer === undefined || offer.ghost !== undefined) {
      return;
    }
    const { suggestion, editor } = offer;
    if (
      suggestion.kind === 'edit' &&
      suggestion.uri === this.#uriOf(editor) &&
      !isInSight(editor, suggestion.edits)
    ) {
      reveal(editor, suggestion.edits);
      return;
    }
    this.#clear();
    const isDone = await this.#take(offer);
    const [name, params] = isDone ? [method.accept, {}] : [method.reject, { reason: 'cancelled' }];
    this.#client.notify(name, { id: suggestion.id, ...params });
    this.#asker.forget();
    this.askSoon();
  }

  /** VS Code has put the ghost text in. */
  ghostTaken(id: string): void {
    if (this.#offer?.suggestion.id === id) {
      this.#clear();
    }
    this.#client.notify(method.accept, { id });
    this.#asker.forget();
    this.askSoon();
  }

  /** Takes the offer off the screen and says why. */
  drop(reason: Farewell): void {
    if (this.#offer === undefined) {
      return;
    }
    this.#client.notify(method.reject, { id: this.#offer.suggestion.id, reason });
    this.#clear();
  }

  async reject(): Promise<void> {
    const hadGhost = this.#offer?.ghost !== undefined;
    this.drop('rejected');
    this.#asker.forget();
    if (hadGhost) {
      await vscode.commands.executeCommand('editor.action.inlineSuggest.hide');
    }
  }

  /** The ghost text of an answer for the editor as it stands. */
  ghostOf(editor: vscode.TextEditor, suggestion: Suggestion | undefined): Ghost | undefined {
    const isHere = suggestion?.kind === 'edit' && suggestion.uri === this.#uriOf(editor);
    if (!isHere || suggestion.version !== editor.document.version || !showsGhosts(editor.document)) {
      return undefined;
    }
    const cursor = editor.selection.active;
    return asGhost(suggestion, cursor, editor.document.lineAt(cursor.line).text);
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#clear();
    this.#answers.dispose();
  }

  /** The offer; if the user typed on since it was made, what the server makes of it now, in the same places. */
  async #fresh(): Promise<Offer | undefined> {
    const seen = this.#offer;
    if (seen?.isStale !== true) {
      return seen;
    }
    await this.askNow('automatic');
    const now = this.#offer;
    return now !== undefined && !now.isStale && isSamePlace(seen.suggestion, now.suggestion)
      ? now
      : undefined;
  }

  #present(editor: vscode.TextEditor, suggestion: Suggestion | undefined): void {
    const old = this.#offer;
    if (suggestion === undefined) {
      this.drop(old?.isBegun === true ? 'replaced' : 'ignored');
      return;
    }
    const ghost = this.ghostOf(editor, suggestion);
    const offer = { suggestion, editor, ghost, isBegun: false, isStale: false };
    this.#offer = offer;
    // The server keeps the id of what it goes on offering.
    if (old !== undefined && old.suggestion.id !== suggestion.id) {
      this.#client.notify(method.reject, { id: old.suggestion.id, reason: 'replaced' });
    }
    const isDrawn = old?.editor === editor && isSameOffer(old.suggestion, suggestion);
    if (!isDrawn || (old.ghost === undefined) !== (ghost === undefined)) {
      this.#draw(offer, old);
    }
  }

  #draw(offer: Offer, old: Offer | undefined): void {
    const { suggestion, editor, ghost } = offer;
    if (old !== undefined && (old.editor !== editor || ghost !== undefined)) {
      this.#marks.clear(old.editor);
    }
    setContext('nudge.ghost', ghost !== undefined);
    setContext('nudge.offered', ghost === undefined);
    if (ghost !== undefined) {
      // VS Code asks by itself after typing only, and later than this.
      void vscode.commands.executeCommand('editor.action.inlineSuggest.trigger');
      return;
    }
    const hint = readSettings().showReason ? hintFor(suggestion, this.#uriOf(editor)) : '';
    if (suggestion.kind === 'edit' && suggestion.uri === this.#uriOf(editor)) {
      this.#marks.showEdits(editor, suggestion.edits, hint);
    } else {
      this.#marks.showHint(editor, editor.selection.active.line, hintFor(suggestion, this.#uriOf(editor)));
    }
  }

  async #take({ suggestion, editor }: Offer): Promise<boolean> {
    const converter = this.#client.running?.protocol2CodeConverter;
    return converter !== undefined && take(suggestion, editor, this.#uriOf(editor), converter);
  }

  #reportPart(id: string, ghost: Ghost, changes: readonly vscode.TextDocumentContentChangeEvent[]): boolean {
    const [change, ...others] = changes;
    const part =
      change === undefined || others.length > 0 ? undefined : takenPart(ghost.inserted, change.text);
    if (part !== undefined) {
      this.#client.notify(method.accept, { id, part });
    }
    return part !== undefined;
  }

  #clear(): void {
    if (this.#offer === undefined) {
      return;
    }
    this.#marks.clear(this.#offer.editor);
    this.#offer = undefined;
    setContext('nudge.ghost', false);
    setContext('nudge.offered', false);
  }

  #uriOf(editor: vscode.TextEditor): string {
    return (
      this.#client.running?.code2ProtocolConverter.asUri(editor.document.uri) ??
      editor.document.uri.toString()
    );
  }
}
