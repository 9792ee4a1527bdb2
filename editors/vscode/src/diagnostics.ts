// Tells the server what other servers and linters say about the files that are open.

import * as vscode from 'vscode';
import { SELECTOR, type Client } from './client.ts';
import { method } from './protocol.ts';

export class Diagnostics {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Reports the files among `uris` that are open; true if the active one is. */
  async report(uris: readonly vscode.Uri[]): Promise<boolean> {
    const changed = new Set(uris.map((uri) => uri.toString()));
    const documents = vscode.workspace.textDocuments.filter((document) =>
      changed.has(document.uri.toString()),
    );
    for (const document of documents.filter((one) => vscode.languages.match(SELECTOR, one) > 0)) {
      await this.#reportOne(document);
    }
    const active = vscode.window.activeTextEditor?.document;
    return active !== undefined && documents.includes(active);
  }

  /** Reports everything that is open, to a server that knows nothing yet. */
  async reportAll(): Promise<void> {
    const open = vscode.workspace.textDocuments.map((document) => document.uri);
    await this.report(open.filter((uri) => vscode.languages.getDiagnostics(uri).length > 0));
  }

  async #reportOne(document: vscode.TextDocument): Promise<void> {
    const converter = this.#client.running?.code2ProtocolConverter;
    if (converter === undefined) {
      return;
    }
    const version = document.version;
    const diagnostics = await converter.asDiagnostics(vscode.languages.getDiagnostics(document.uri));
    this.#client.notify(method.diagnostics, { uri: converter.asUri(document.uri), version, diagnostics });
  }
}
