// An editor made with the NES client of the official TypeScript SDK: opens a document, makes one edit, and takes what is
// suggested until nothing is. Prints what came of it as one JSON value.
//
//   node nes_session.mjs TEXT OLD NEW AGENT [ARGUMENT]...
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import * as nes from "@agentclientprotocol/sdk/experimental/nes";

const [original, before, after, command, ...args] = process.argv.slice(2);
const uri = "file:///w/a.rs";
const methods = nes.methods.agent;

// The position of an offset, and the offset of a position; JavaScript counts as UTF-16 does.
function position(text, offset) {
  const lines = text.slice(0, offset).split("\n");
  return { line: lines.length - 1, character: lines.at(-1).length };
}
function offset(text, { line, character }) {
  const lines = text.split("\n").slice(0, line);
  return lines.reduce((sum, line) => sum + line.length + 1, 0) + character;
}
function apply(text, edits) {
  return edits.toReversed().reduce((text, { range, newText }) =>
    text.slice(0, offset(text, range.start)) + newText + text.slice(offset(text, range.end)), text);
}

const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
const connection = nes.client().connect(stream);
const { agent } = connection;

const initialized = await agent.request("initialize", {
  protocolVersion: nes.PROTOCOL_VERSION,
  clientInfo: { name: "typescript-sdk", version: "2.4.0" },
  clientCapabilities: { nes: {}, positionEncodings: ["utf-16"] },
});
const { sessionId } = await agent.request(methods.nes.start, {});
const unknown = await agent.request(methods.nes.close, { sessionId: "nobody" }).catch(({ code, data }) => ({ code, data }));

let text = original;
let version = 1;
await agent.notify(methods.document.didOpen, { sessionId, uri, languageId: "rust", version, text });
async function edit(edits) {
  version += 1;
  const contentChanges = edits.toReversed().map(({ range, newText }) => ({ range, text: newText }));
  await agent.notify(methods.document.didChange, { sessionId, uri, version, contentChanges });
  text = apply(text, edits);
}

const at = text.indexOf(before);
await edit([{ range: { start: position(text, at), end: position(text, at + before.length) }, newText: after }]);
let cursor = position(text, at + after.length);
const accepted = [];
while (text.includes(before) && accepted.length < 10) {
  const request = { sessionId, uri, version, position: cursor, triggerKind: "automatic" };
  const { suggestions } = await agent.request(methods.nes.suggest, request);
  const suggestion = suggestions.find(({ kind }) => kind === "edit");
  if (!suggestion) break;
  accepted.push(suggestion);
  await agent.notify(methods.nes.accept, { sessionId, id: suggestion.id });
  await edit(suggestion.edits);
  cursor = suggestion.cursorPosition;
}
await agent.notify(methods.document.didClose, { sessionId, uri });
const closed = await agent.request(methods.nes.close, { sessionId });
console.log(JSON.stringify({ initialized, unknown, accepted, text, closed }));
connection.close();
child.stdin.end();
