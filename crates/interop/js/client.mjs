// A client made with the official TypeScript SDK: initialises an agent, has a turn with it if there is a prompt, and
// prints what came of it as one JSON value.
//
//   node client.mjs VERSION PROMPT AGENT [ARGUMENT]...
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as v1 from "@agentclientprotocol/sdk";
import * as v2 from "@agentclientprotocol/sdk/experimental/v2";

const [version, prompt, command, ...args] = process.argv.slice(2);
const info = { name: "typescript-sdk", version: "2.4.0" };

const versions = {
  1: {
    sdk: v1,
    initialize: { protocolVersion: v1.PROTOCOL_VERSION, clientInfo: info, clientCapabilities: {} },
    async turn(session) {
      const answer = session.prompt(prompt);
      const text = await session.readText();
      return { text, stopReason: (await answer).stopReason };
    },
  },
  2: {
    sdk: v2,
    initialize: { protocolVersion: v2.PROTOCOL_VERSION, info, capabilities: {} },
    async turn(session, agent) {
      await session.prompt(prompt);
      const text = await session.readTextUntilIdle();
      const sessions = await agent.request("session/list", {});
      await agent.request("session/close", { sessionId: session.sessionId });
      return { text, sessions: sessions.sessions.length };
    },
  },
};

const { sdk, initialize, turn } = versions[version];
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const stream = sdk.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
const report = await sdk.client().connectWith(stream, async (agent) => {
  const initialized = await agent.request("initialize", initialize);
  if (!prompt) {
    const refused = await agent.request("_nobody/knows", {}).catch((error) => error.code);
    return { initialized, refused };
  }
  const session = await agent.buildSession(process.cwd()).start();
  return { initialized, ...(await turn(session, agent)) };
});
console.log(JSON.stringify(report));
child.stdin.end();
