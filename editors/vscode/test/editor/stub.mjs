#!/usr/bin/env node
// Stands in for `nudge lsp` where a test needs a certain suggestion. Rules are in `.stub/rules.json` of the workspace: a rule
// is offered while its pattern is found in the document, until it is answered. What the extension says is in `.stub/said`.

import { appendFileSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const texts = new Map();
const answered = new Set();
let folder = '.';
let input = Buffer.alloc(0);
let count = 0;

process.stdin.on('data', (data) => {
  input = Buffer.concat([input, data]);
  for (let message = take(); message !== undefined; message = take()) {
    handle(message);
  }
});
process.stdin.on('end', () => process.exit(0));

function take() {
  const headerEnd = input.indexOf('\r\n\r\n');
  const length = Number(
    /content-length: (\d+)/i.exec(input.subarray(0, Math.max(headerEnd, 0)).toString())?.[1],
  );
  const end = headerEnd + 4 + length;
  if (headerEnd < 0 || input.length < end) {
    return undefined;
  }
  const message = JSON.parse(input.subarray(headerEnd + 4, end).toString());
  input = input.subarray(end);
  return message;
}

function handle({ id, method, params }) {
  const answer = HANDLERS[method]?.(params, method);
  if (id !== undefined && method !== undefined) {
    send({ jsonrpc: '2.0', id, result: answer ?? null });
  }
}

function send(message) {
  const body = Buffer.from(JSON.stringify(message));
  process.stdout.write(`Content-Length: ${body.length}\r\n\r\n`);
  process.stdout.write(body);
}

function say(params, method) {
  const rule = count === 0 ? undefined : params.id?.split('/')[0];
  if (
    rule !== undefined &&
    (method === 'nudge/accept' || params.reason === 'rejected') &&
    params.part === undefined
  ) {
    answered.add(rule);
  }
  appendFileSync(`${folder}/.stub/said`, `${method} ${JSON.stringify({ ...params, id: rule })}\n`);
}

const HANDLERS = {
  initialize({ workspaceFolders }) {
    folder = fileURLToPath(workspaceFolders[0].uri);
    const textDocumentSync = { openClose: true, change: 1 };
    return { capabilities: { textDocumentSync, positionEncoding: 'utf-16' }, serverInfo: { name: 'nudge' } };
  },
  'textDocument/didOpen': ({ textDocument: { uri, text } }) => void texts.set(uri, text),
  'textDocument/didChange': ({ textDocument: { uri }, contentChanges }) =>
    void texts.set(uri, contentChanges.at(-1).text),
  'nudge/suggest': ({ textDocument: { uri, version } }) => {
    const rules = JSON.parse(readFileSync(`${folder}/.stub/rules.json`, 'utf8'));
    const isOn = ({ name, when }) => !answered.has(name) && new RegExp(when).test(texts.get(uri) ?? '');
    count += 1;
    const suggestions = rules
      .filter(isOn)
      .map((rule) => ({ uri, version, ...rule.suggestion, id: `${rule.name}/${count}` }));
    return { suggestions, elapsedMs: 1 };
  },
  'nudge/accept': say,
  'nudge/reject': say,
  exit: () => process.exit(0),
};
