// What the NES module of the official TypeScript SDK makes of our golden frames, and what it says itself. Prints one
// JSON value a line.
//
//   node nes.mjs GOLDEN
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as nes from "@agentclientprotocol/sdk/experimental/nes";

const directory = process.argv[2];
const say = (value) => console.log(JSON.stringify(value));
const golden = (name) => JSON.parse(readFileSync(join(directory, name), "utf8"));
const goldens = (pattern) => readdirSync(directory).filter((name) => pattern.test(name)).sort();

// One end of a connection whose other end is `hear`, called with each message and a function to answer with.
function stream(hear) {
  let answer;
  const readable = new ReadableStream({ start: (it) => (answer = (message) => it.enqueue(message)) });
  const writable = new WritableStream({ write: (message) => hear(message, answer) });
  return { readable, writable, send: (message) => answer(message) };
}

// An agent is told our requests and notifications, one after the other. `heard` is what its handlers get.
async function listen() {
  const { nes: suggest, document } = nes.methods.agent;
  const app = nes.agent();
  let name, next;
  const heard = (context) => say({ heard: { name, params: context.params } });
  for (const method of ["initialize", suggest.start, suggest.suggest, suggest.close]) {
    app.onRequest(method, (context) => heard(context) ?? {});
  }
  for (const method of [suggest.accept, suggest.reject, ...Object.values(document)]) {
    app.onNotification(method, (context) => heard(context) ?? next());
  }

  const end = stream((message) => {
    if ("error" in message) say({ rejected: { name, why: message.error.message } });
    next();
  });
  const connection = app.connect(end);
  const frames = goldens(/^(nes|document)-.*\.(request|notification)\b/);
  for (name of ["initialize.request.json", ...frames]) {
    await new Promise((resolve) => {
      next = resolve;
      end.send(golden(name));
    });
  }
  connection.close();
}

// The schemas of the results. `accepted` is what they let through.
function check() {
  const schemas = [
    [/^initialize\.response/, nes.zInitializeResponse],
    [/^nes-start\.response/, nes.validate.zStartNesResponse],
    [/^nes-suggest\.response/, nes.validate.zSuggestNesResponse],
    [/^nes-close\.response/, nes.validate.zCloseNesResponse],
  ];
  for (const [pattern, schema] of schemas) {
    for (const name of goldens(pattern)) {
      const { data, error } = schema.safeParse(golden(name).result);
      say(error ? { rejected: { name, why: error.message } } : { accepted: { name, result: data } });
    }
  }
}

// A client says everything it can. `sent` is what goes out.
async function speak() {
  const uri = "file:///w/a.rs";
  const position = { line: 3, character: 7 };
  const range = { start: { line: 3, character: 0 }, end: position };
  const sessionId = "nes-1";
  const document = { sessionId, uri };
  const context = {
    recentFiles: [{ uri, languageId: "rust", text: "fn a() {}\n" }],
    relatedSnippets: [{ uri, excerpts: [{ startLine: 0, endLine: 1, text: "fn a() {}\n" }] }],
    editHistory: [{ uri, diff: "-a\n+b\n" }],
    userActions: [{ action: "insertChar", uri, position, timestampMs: 1767225600000 }],
    openFiles: [{ uri, languageId: "rust", visibleRange: range, lastFocusedMs: 1767225600000 }],
    diagnostics: [{ uri, range, severity: "error", message: "unused" }],
  };
  const requests = [
    ["initialize", {
      protocolVersion: nes.PROTOCOL_VERSION,
      clientInfo: { name: "typescript-sdk", version: "2.4.0" },
      clientCapabilities: {
        nes: { jump: {}, rename: {}, searchAndReplace: {} },
        positionEncodings: ["utf-8", "utf-16", "utf-32"],
      },
    }],
    ["nes/start", {
      workspaceUri: "file:///w",
      workspaceFolders: [{ uri: "file:///w", name: "w" }],
      repository: { name: "w", owner: "o", remoteUrl: "https://git.example.org/o/w.git" },
    }],
    ["nes/suggest", { ...document, version: 2, position, selection: range, triggerKind: "diagnostic", context }],
    ["nes/suggest", { ...document, version: 2, position, selection: null, triggerKind: "manual", context: null }],
    ["nes/close", { sessionId }],
  ];
  const notifications = [
    ["document/didOpen", { ...document, languageId: "rust", version: 1, text: "fn a() {}\n" }],
    ["document/didChange", { ...document, version: 2, contentChanges: [{ range, text: "b" }, { text: "c" }] }],
    ["document/didFocus", { ...document, version: 2, position, visibleRange: range }],
    ["document/didSave", document],
    ["document/didClose", document],
    ["nes/accept", { sessionId, id: "s-1" }],
    ...["rejected", "ignored", "replaced", "cancelled"].map((reason) => ["nes/reject", { sessionId, id: "s-1", reason }]),
  ];
  const end = stream((message, answer) => {
    say({ sent: message });
    if ("id" in message) answer({ jsonrpc: "2.0", id: message.id, result: {} });
  });
  const connection = nes.client().connect(end);
  for (const [method, params] of requests) await connection.agent.request(method, params);
  for (const [method, params] of notifications) await connection.agent.notify(method, params);
  connection.close();
}

// A client gets our errors. `failed` is what its caller sees.
async function fail() {
  for (const name of goldens(/^nes\.error\./)) {
    const end = stream((message, answer) => answer({ ...golden(name), id: message.id }));
    const connection = nes.client().connect(end);
    await connection.agent.request("nes/suggest", {}).catch(({ code, message, data }) => {
      say({ failed: { name, error: { code, message, data } } });
    });
    connection.close();
  }
}

await listen();
check();
await speak();
await fail();
