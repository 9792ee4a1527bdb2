// Puts the parts together: events of the editor on one side, the connection to `nudge lsp` on the other.

import * as vscode from 'vscode';
import { Asker, plainPosition, plainRange } from './asker.ts';
import { Client, SELECTOR } from './client.ts';
import { Diagnostics } from './diagnostics.ts';
import { InlineProvider } from './inline.ts';
import { Marks } from './marks.ts';
import { Offers } from './offers.ts';
import { method } from './protocol.ts';
import { forServer, readSettings, setEnabled } from './settings.ts';
import { StatusEntry } from './status.ts';

let client: Client | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const output = vscode.window.createOutputChannel('Nudge', { log: true });
  const parts = build(output);
  client = parts.client;
  context.subscriptions.push(
    output,
    ...Object.values(parts).filter(isDisposable),
    ...commands(parts, output),
    ...events(parts),
  );
  context.subscriptions.push(
    vscode.languages.registerInlineCompletionItemProvider(
      SELECTOR,
      new InlineProvider(parts.asker, parts.offers),
    ),
  );
  // Not awaited: until this returns no command works, and a failed start waits for what the user chooses.
  void parts.client.start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

interface Parts {
  client: Client;
  marks: Marks;
  asker: Asker;
  offers: Offers;
  status: StatusEntry;
  diagnostics: Diagnostics;
}

function build(output: vscode.LogOutputChannel): Parts {
  const client = new Client(output);
  const marks = new Marks();
  const asker = new Asker(client, output);
  const offers = new Offers(client, asker, marks);
  return { client, marks, asker, offers, status: new StatusEntry(), diagnostics: new Diagnostics(client) };
}

function isDisposable(part: object): part is vscode.Disposable {
  return 'dispose' in part;
}

function commands({ client, offers }: Parts, output: vscode.LogOutputChannel): vscode.Disposable[] {
  const on = vscode.commands.registerCommand;
  return [
    on('nudge.accept', () => offers.accept()),
    on('nudge.reject', () => offers.reject()),
    on('nudge.ghostTaken', (id: string) => offers.ghostTaken(id)),
    on('nudge.nextEdit', () => nextEdit(offers)),
    on('nudge.enable', () => setEnabled(true)),
    on('nudge.disable', () => setEnabled(false)),
    on('nudge.toggle', () => setEnabled(!readSettings().enabled)),
    on('nudge.showLog', () => output.show()),
    on('nudge.restart', () => client.restart()),
  ];
}

async function nextEdit(offers: Offers): Promise<void> {
  const answer = await offers.askNow('manual');
  if (answer !== undefined && answer.suggestion === undefined) {
    vscode.window.setStatusBarMessage(`Nudge: ${answer.why ?? 'no next edit to offer here'}`, 5000);
  }
}

function events(parts: Parts): vscode.Disposable[] {
  const { client, asker, offers, status, diagnostics } = parts;
  return [
    offers.onAnswer((answer) => status.setAnswer(answer)),
    client.onStatus((now) => {
      status.setStatus(now);
      if (now.state === 'ready') {
        // A server that has just come up, or found its daemon again, may know more than before.
        asker.forget();
        void diagnostics.reportAll().then(() => focus(parts, vscode.window.activeTextEditor));
      }
    }),
    vscode.workspace.onDidChangeTextDocument((event) => {
      if (event.contentChanges.length > 0 && event.document === vscode.window.activeTextEditor?.document) {
        offers.changed(event);
        offers.askSoon();
      }
    }),
    vscode.window.onDidChangeTextEditorSelection((event) => {
      if (event.textEditor === vscode.window.activeTextEditor) {
        offers.askSoon();
      }
    }),
    vscode.window.onDidChangeActiveTextEditor((editor) => {
      offers.drop('cancelled');
      focus(parts, editor);
    }),
    vscode.languages.onDidChangeDiagnostics(async (event) => {
      if (await diagnostics.report(event.uris)) {
        offers.askSoon('diagnostic');
      }
    }),
    vscode.workspace.onDidChangeConfiguration((event) => configured(parts, event)),
  ];
}

/** Tells the server where the user is now, and asks what could be next there. */
function focus({ client, offers }: Parts, editor: vscode.TextEditor | undefined): void {
  const connection = client.running;
  if (
    editor === undefined ||
    connection === undefined ||
    vscode.languages.match(SELECTOR, editor.document) === 0
  ) {
    return;
  }
  const visible = editor.visibleRanges[0];
  client.notify(method.didFocus, {
    textDocument: {
      uri: connection.code2ProtocolConverter.asUri(editor.document.uri),
      version: editor.document.version,
    },
    position: plainPosition(editor.selection.active),
    ...(visible === undefined ? {} : { visible: plainRange(visible) }),
  });
  offers.askSoon();
}

function configured({ client, asker, offers, status }: Parts, event: vscode.ConfigurationChangeEvent): void {
  if (event.affectsConfiguration('nudge.path')) {
    void client.restart();
    return;
  }
  if (!event.affectsConfiguration('nudge.enabled') && !event.affectsConfiguration('nudge.eagerness')) {
    return;
  }
  const settings = readSettings();
  client.notify('workspace/didChangeConfiguration', { settings: { nudge: forServer(settings) } });
  if (client.running !== undefined) {
    status.setStatus({ state: settings.enabled ? 'ready' : 'off' });
  }
  asker.forget();
  if (settings.enabled) {
    offers.askSoon();
  } else {
    offers.drop('cancelled');
  }
}
