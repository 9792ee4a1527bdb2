// The connection to `nudge lsp`: starts it, starts it again when it ends, and says what to do when it cannot be started.

import * as vscode from 'vscode';
import {
  CloseAction,
  type CloseHandlerResult,
  DynamicFeature,
  ErrorAction,
  type ErrorHandler,
  LanguageClient,
  type LanguageClientOptions,
  type StaticFeature,
} from 'vscode-languageclient/node';
import { method, type StatusParams } from './protocol.ts';
import { Restarts } from './restarts.ts';
import { forServer, readSettings } from './settings.ts';

/** Documents that suggestions are made for. */
export const SELECTOR = [{ scheme: 'file' }, { scheme: 'untitled' }];

/** What the server offers to editors without a plugin; asked for as well, it would compete with our own requests. */
const NOT_USED = new Set([
  'textDocument/inlineCompletion',
  'textDocument/codeAction',
  'workspace/executeCommand',
]);

class Connection extends LanguageClient {
  override registerFeature(feature: StaticFeature | DynamicFeature<unknown>): void {
    const isUnused = DynamicFeature.is(feature) && NOT_USED.has(feature.registrationType.method);
    if (!isUnused) {
      super.registerFeature(feature);
    }
  }

  /** Errors go to the log; what the user must know is said once, in our own words. */
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

export class Client implements vscode.Disposable {
  readonly #output: vscode.LogOutputChannel;
  readonly #status = new vscode.EventEmitter<StatusParams>();
  readonly onStatus = this.#status.event;
  #connection: LanguageClient | undefined;

  constructor(output: vscode.LogOutputChannel) {
    this.#output = output;
  }

  /** The connection, if it can be spoken to now. */
  get running(): LanguageClient | undefined {
    return this.#connection?.isRunning() === true ? this.#connection : undefined;
  }

  async start(): Promise<void> {
    const settings = readSettings();
    const command = settings.path === '' ? 'nudge' : settings.path;
    this.#status.fire({ state: 'connecting' });
    const connection = new Connection('nudge', 'Nudge', { command, args: ['lsp'] }, this.#options());
    this.#connection = connection;
    let hasSaid = false;
    connection.onNotification(method.status, (status: StatusParams) => {
      hasSaid = true;
      this.#status.fire(status);
    });
    try {
      await connection.start();
      if (!hasSaid) {
        this.#status.fire({ state: settings.enabled ? 'ready' : 'off' });
      }
    } catch (error) {
      this.#connection = undefined;
      await this.#sayWhyNot(command, error);
    }
  }

  async stop(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    try {
      await connection?.dispose();
    } catch (error) {
      // It was on its way out already.
      this.#output.debug(`stopping: ${String(error)}`);
    }
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  notify(name: string, params: object): void {
    const connection = this.running;
    if (connection === undefined) {
      return;
    }
    connection
      .sendNotification(name, params)
      .catch((error: unknown) => this.#output.debug(`${name}: ${String(error)}`));
  }

  dispose(): void {
    this.#status.dispose();
    void this.stop();
  }

  #options(): LanguageClientOptions {
    return {
      documentSelector: SELECTOR,
      initializationOptions: forServer(readSettings()),
      outputChannel: this.#output,
      errorHandler: this.#errorHandler(),
      initializationFailedHandler: () => false,
      middleware: {
        // Only what the server knows, and with what this extension always wants.
        workspace: {
          configuration: (params) => params.items.map(() => forServer(readSettings())),
        },
      },
    };
  }

  #errorHandler(): ErrorHandler {
    const restarts = new Restarts();
    return {
      error: () => ({ action: ErrorAction.Continue }),
      closed: (): CloseHandlerResult => {
        if (restarts.mayRestart(Date.now())) {
          this.#status.fire({ state: 'connecting', message: 'nudge lsp ended and is started again' });
          return { action: CloseAction.Restart, handled: true };
        }
        const message = 'nudge lsp ends again and again; see the log, then run "Nudge: Restart"';
        this.#status.fire({ state: 'failed', message });
        return { action: CloseAction.DoNotRestart, message: `Nudge: ${message}` };
      },
    };
  }

  async #sayWhyNot(command: string, error: unknown): Promise<void> {
    const reason = error instanceof Error ? error.message : String(error);
    const isMissing = reason.includes('ENOENT');
    const message = isMissing
      ? `Nudge: the program "${command}" was not found. Install nudge, or set "nudge.path" to where it is.`
      : `Nudge: "${command} lsp" could not be started: ${reason}. The log says more.`;
    this.#output.error(message);
    this.#status.fire({ state: 'failed', message });
    const choice = await vscode.window.showErrorMessage(message, 'Open Settings', 'Show Log', 'Try Again');
    if (choice === 'Open Settings') {
      await vscode.commands.executeCommand('workbench.action.openSettings', 'nudge.path');
    } else if (choice === 'Show Log') {
      this.#output.show();
    } else if (choice === 'Try Again') {
      await this.start();
    }
  }
}
