// A client made with the official TypeScript SDK holds a whole conversation with an agent, leaves, and takes it up again
// with a new process. Prints what it sends and hears, as the SDK gives it, one JSON value a line.
//
//   node conversation.mjs VERSION FOLDER AGENT [ARGUMENT]...
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import * as v1 from "@agentclientprotocol/sdk";
import * as v2 from "@agentclientprotocol/sdk/experimental/v2";

const [version, cwd, command, ...args] = process.argv.slice(2);
const info = { name: "typescript-sdk", version: "2.4.0" };
const fs = { readTextFile: true, writeTextFile: false };

const versions = {
  1: {
    sdk: v1,
    initialize: { protocolVersion: v1.PROTOCOL_VERSION, clientInfo: info, clientCapabilities: { fs } },
    reopen: ["session/load", {}],
  },
  2: {
    sdk: v2,
    initialize: { protocolVersion: v2.PROTOCOL_VERSION, info, capabilities: {} },
    reopen: ["session/resume", { replayFrom: { type: "start" } }],
  },
};
const { sdk, initialize, reopen } = versions[version];

// What was said and heard, and who waits for something of it.
const events = [];
let waiting = [];
function tell(event) {
  console.log(JSON.stringify(event));
  events.push(event);
  waiting = waiting.filter((check) => !check());
}
// Gives the number of the first event from `from` on that fits.
function until(fits, from) {
  return new Promise((resolve) => {
    const check = () => {
      const at = events.findIndex((event, at) => at >= from && fits(event));
      if (at >= 0) resolve(at);
      return at >= 0;
    };
    if (!check()) waiting.push(check);
  });
}
const says = (words) => ({ update }) =>
  update?.sessionUpdate === "agent_message_chunk" && update.content.text.includes(words);
// Version 1 has no states; a turn that nobody prompted for ends with a state in `_meta`.
const isIdle = ({ update }) => update?.state === "idle" || update?._meta?.state === "idle";

// The SDK gives an answer ahead of the updates that came before it; they are through when all that is ready has run.
async function answered(request) {
  const answer = await request;
  await new Promise(setImmediate);
  return answer;
}

// The kind of option that is chosen when a permission is asked for; without one the turn is cancelled.
let choice;
async function permit({ params, agent }) {
  tell({ permission: params });
  const option = params.options.find(({ kind }) => kind === choice);
  if (option) return { outcome: { outcome: "selected", optionId: option.optionId } };
  await agent.notify("session/cancel", { sessionId: params.sessionId });
  return { outcome: { outcome: "cancelled" } };
}

const app = sdk.client()
  .onRequest("session/request_permission", permit)
  .onNotification("session/update", ({ params }) => tell({ update: params.update }));
if (version === "1") {
  app.onRequest("fs/read_text_file", ({ params }) => {
    tell({ read: params });
    if (!params.path.endsWith("editor.txt")) throw sdk.RequestError.resourceNotFound(params.path);
    return { content: "in the editor" };
  });
}

// Runs `talk` with an agent of its own.
async function withAgent(talk) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const stream = sdk.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  await app.connectWith(stream, async (agent) => {
    tell({ initialized: await agent.request("initialize", initialize) });
    await talk(agent);
  });
  child.stdin.end();
  const [code] = await ended;
  tell({ ended: code });
}

const content = (text) => [{ type: "text", text }];

// The end of a turn is in version 1 the answer to its prompt, in version 2 a state of the session.
async function turn(prompting) {
  const from = events.length;
  tell({ prompted: await answered(prompting) });
  if (version === "2") await until(isIdle, from);
}

async function first(agent) {
  const session = await agent.buildSession(cwd).start();
  const { sessionId } = session;
  tell({ opened: session.newSessionResponse });
  const inject = async (mode, text) =>
    tell({ injected: await agent.request("session/inject", { sessionId, mode, content: content(text) }) });

  await turn(session.prompt("hello"));
  await turn(session.prompt("plan"));
  await turn(session.prompt("read editor.txt"));
  choice = "allow_once";
  await turn(session.prompt("write allowed.txt words"));
  choice = "reject_once";
  await turn(session.prompt("write rejected.txt words"));
  choice = undefined;
  await turn(session.prompt("write cancelled.txt words"));

  let from = events.length;
  let talking = turn(session.prompt("talk"));
  await until(says("word"), from);
  await agent.notify("session/cancel", { sessionId });
  await talking;

  from = events.length;
  talking = turn(session.prompt("talk"));
  await until(says("word"), from);
  await inject("queue", "later");
  await inject("steer", "left");
  await talking;
  await until(isIdle, await until(says("later"), from));

  tell({ listed: await agent.request("session/list", { cwd }) });
  tell({ closed: await agent.request("session/close", { sessionId }) });
  return sessionId;
}

async function second(agent, sessionId) {
  const [method, more] = reopen;
  tell({ opened: await answered(agent.request(method, { sessionId, cwd, mcpServers: [], ...more })) });
  await turn(agent.request("session/prompt", { sessionId, prompt: content("again") }));
}

let sessionId;
await withAgent(async (agent) => (sessionId = await first(agent)));
await withAgent((agent) => second(agent, sessionId));
