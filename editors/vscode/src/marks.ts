// Draws a suggestion into an editor: what goes is struck out, what comes stands behind it, a hint says what Tab does.

import * as vscode from 'vscode';
import { type Block, columns, type Layout, layOut, type Lines } from './layout.ts';
import type { Position, Range, TextEdit } from './protocol.ts';

const LONGEST = 160;
const GAP = 4;

export class Marks implements vscode.Disposable {
  readonly #deleted = vscode.window.createTextEditorDecorationType({
    backgroundColor: new vscode.ThemeColor('diffEditor.removedTextBackground'),
    textDecoration: 'line-through',
    overviewRulerColor: new vscode.ThemeColor('editorOverviewRuler.modifiedForeground'),
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
  readonly #inserted = vscode.window.createTextEditorDecorationType({
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
    after: { backgroundColor: new vscode.ThemeColor('diffEditor.insertedTextBackground') },
  });
  readonly #hint = vscode.window.createTextEditorDecorationType({
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
    after: {
      color: new vscode.ThemeColor('editorGhostText.foreground'),
      fontStyle: 'italic',
      margin: '0 0 0 2em',
    },
  });

  /** Shows the edits; the hint stands behind the first line that changes. */
  showEdits(editor: vscode.TextEditor, edits: readonly TextEdit[], hint: string): void {
    const lines = linesOf(editor.document);
    const layout = layOut(edits, lines);
    const tabSize = typeof editor.options.tabSize === 'number' ? editor.options.tabSize : 4;
    const inserted = layout.inserted.map(({ at, text }) => after(at, visible(text, tabSize)));
    const blocks = layout.blocks.flatMap((block) => drawBlock(block, lines, tabSize));
    editor.setDecorations(this.#deleted, layout.deleted.map(rangeOf));
    editor.setDecorations(this.#inserted, [...inserted, ...blocks]);
    this.#setHint(editor, hintLine(layout, lines), hint);
  }

  /** Shows only a hint, behind the given line. */
  showHint(editor: vscode.TextEditor, line: number, hint: string): void {
    editor.setDecorations(this.#deleted, []);
    editor.setDecorations(this.#inserted, []);
    this.#setHint(editor, line, hint);
  }

  clear(editor: vscode.TextEditor): void {
    for (const kind of [this.#deleted, this.#inserted, this.#hint]) {
      editor.setDecorations(kind, []);
    }
  }

  dispose(): void {
    this.#deleted.dispose();
    this.#inserted.dispose();
    this.#hint.dispose();
  }

  #setHint(editor: vscode.TextEditor, line: number, hint: string): void {
    const end = editor.document.lineAt(line).range.end;
    editor.setDecorations(this.#hint, hint === '' ? [] : [after(end, visible(hint, 1))]);
  }
}

export function rangeOf(range: Range): vscode.Range {
  return new vscode.Range(range.start.line, range.start.character, range.end.line, range.end.character);
}

function linesOf(document: vscode.TextDocument): Lines {
  return { count: document.lineCount, at: (line) => document.lineAt(line).text };
}

/** The hint must not push a block of new lines aside. */
function hintLine(layout: Layout, lines: Lines): number {
  const block = layout.blocks.find((one) => one.line === layout.first);
  const line = block === undefined ? layout.first : block.line + block.texts.length;
  return Math.min(line, lines.count - 1);
}

/** One decoration a line, all beginning in the same column, so that the new lines read as a block. */
function drawBlock(block: Block, lines: Lines, tabSize: number): vscode.DecorationOptions[] {
  const texts = [...block.texts];
  const room = lines.count - block.line;
  if (texts.length > room) {
    texts.splice(room - 1, texts.length, texts.slice(room - 1).join(' ↵ '));
  }
  const beside = texts.map((_, index) => columns(lines.at(block.line + index), tabSize));
  const column = Math.max(...beside) + GAP;
  const width = Math.max(...texts.map((text) => columns(text, tabSize)));
  return texts.map((text, index) => {
    const line = block.line + index;
    const padded = visible(text, tabSize) + '\u00a0'.repeat(width - columns(text, tabSize));
    const margin = `0 0 0 ${column - (beside[index] ?? 0)}ch`;
    const mark = block.isAdded && index === 0 ? '↵' : '\u00a0';
    return after({ line, character: lines.at(line).length }, mark + padded, margin);
  });
}

function after(at: Position, contentText: string, margin?: string): vscode.DecorationOptions {
  const attachment = margin === undefined ? { contentText } : { contentText, margin };
  return { range: rangeOf({ start: at, end: at }), renderOptions: { after: attachment } };
}

/** Blanks that a browser does not fold together, and no more than fits. */
function visible(text: string, tabSize: number): string {
  const plain = text.replaceAll('\t', ' '.repeat(tabSize)).replaceAll(' ', '\u00a0');
  return plain.length > LONGEST ? `${plain.slice(0, LONGEST)}…` : plain;
}
