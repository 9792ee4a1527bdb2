// The entry in the status bar: whether Nudge works, and how quickly it answered last.

import * as vscode from 'vscode';
import type { Answer } from './asker.ts';
import type { StatusParams } from './protocol.ts';

const ICONS = {
  connecting: '$(sync~spin)',
  ready: '$(sparkle)',
  off: '$(circle-slash)',
  failed: '$(warning)',
} as const;
const SAYS = { connecting: 'is starting', ready: 'is on', off: 'is off', failed: 'does not work' } as const;

export class StatusEntry implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem('nudge.status', vscode.StatusBarAlignment.Right, 100);
  #status: StatusParams = { state: 'connecting' };
  #answer: Answer | undefined;

  constructor() {
    this.#item.name = 'Nudge';
    this.#item.command = 'nudge.toggle';
    this.#draw();
    this.#item.show();
  }

  setStatus(status: StatusParams): void {
    this.#status = status;
    this.#draw();
  }

  setAnswer(answer: Answer): void {
    this.#answer = answer;
    this.#draw();
  }

  dispose(): void {
    this.#item.dispose();
  }

  #draw(): void {
    const { state, message } = this.#status;
    const latency = this.#answer === undefined ? '' : ` ${this.#answer.milliseconds.toFixed(0)} ms`;
    this.#item.text = `${ICONS[state]} Nudge${state === 'ready' ? latency : ''}`;
    this.#item.tooltip = this.#tooltip(message);
    this.#item.backgroundColor =
      state === 'failed' ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
  }

  #tooltip(message: string | undefined): vscode.MarkdownString {
    const text = new vscode.MarkdownString('', true);
    text.isTrusted = { enabledCommands: ['nudge.showLog', 'nudge.restart', 'nudge.nextEdit'] };
    text.appendText(`Nudge ${SAYS[this.#status.state]}${message === undefined ? '' : `: ${message}`}\n`);
    if (this.#answer !== undefined) {
      text.appendText(`Last answer: ${this.#answer.milliseconds.toFixed(1)} ms\n`);
    }
    text.appendMarkdown(
      '\n[Next edit](command:nudge.nextEdit) · [Log](command:nudge.showLog) · [Restart](command:nudge.restart)',
    );
    return text;
  }
}
