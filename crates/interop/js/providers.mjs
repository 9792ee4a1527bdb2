// A client made with the official TypeScript SDK: sets where the agent's model is, and has a turn with it. Prints what came of
// it as one JSON value.
//
//   node providers.mjs VERSION BASE_URL PROMPT AGENT [ARGUMENT]...
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as v1 from "@agentclientprotocol/sdk";
import * as v2 from "@agentclientprotocol/sdk/experimental/v2";

const [version, baseUrl, prompt, command, ...args] = process.argv.slice(2);
const info = { name: "typescript-sdk", version: "2.4.0" };

const versions = {
  1: {
    sdk: v1,
    initialize: { protocolVersion: v1.PROTOCOL_VERSION, clientInfo: info, clientCapabilities: {} },
    offered: ({ agentCapabilities }) => agentCapabilities.providers,
    async turn(session) {
      const answer = session.prompt(prompt);
      const text = await session.readText();
      return { text, stopReason: (await answer).stopReason };
    },
  },
  2: {
    sdk: v2,
    initialize: { protocolVersion: v2.PROTOCOL_VERSION, info, capabilities: {} },
    offered: ({ capabilities }) => capabilities.providers,
    async turn(session) {
      await session.prompt(prompt);
      return { text: await session.readTextUntilIdle() };
    },
  },
};

const { sdk, initialize, offered, turn } = versions[version];
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const stream = sdk.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
const report = await sdk.client().connectWith(stream, async (agent) => {
  const initialized = await agent.request("initialize", initialize);
  const headers = { authorization: "Bearer from-typescript" };
  const provider = { providerId: "custom", apiType: "openai", baseUrl, headers };
  const set = await agent.request("providers/set", provider);
  const refused = await agent.request("providers/set", { ...provider, apiType: "none" }).catch((error) => error.code);
  const { providers } = await agent.request("providers/list", {});
  const { current } = providers.find(({ providerId }) => providerId === "custom");
  const session = await agent.buildSession(process.cwd()).start();
  return { offered: offered(initialized), set, refused, current, ...(await turn(session)) };
});
console.log(JSON.stringify(report));
child.stdin.end();
