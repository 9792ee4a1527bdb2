"""A client made with the official Python SDK holds a whole conversation with an agent, leaves, and takes it up again with
a new process. Prints what it sends and hears, as the SDK gives it, one JSON value a line.

    python conversation.py FOLDER AGENT [ARGUMENT]...
"""

import asyncio
import json
import logging
import os
import sys

import acp
from acp.schema import (
    AllowedOutcome,
    ClientCapabilities,
    DeniedOutcome,
    FileSystemCapabilities,
    Implementation,
)

CAPABILITIES = ClientCapabilities(fs=FileSystemCapabilities(read_text_file=True, write_text_file=False))


# The SDK does not know this notification, which may be ignored, and reports it as an error.
logging.root.addFilter(lambda record: record.args != ("$/cancel_request",))


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def says(words):
    return lambda update: update.get("sessionUpdate") == "agent_message_chunk" and words in update["content"]["text"]


def is_idle(update):
    """Version 1 has no states; a turn that nobody prompted for ends with a state in `_meta`."""
    return update.get("_meta", {}).get("state") == "idle"


class Listener(acp.Client):
    def __init__(self):
        self.events = []
        self.told = asyncio.Condition()
        # The kind of option that is chosen when a permission is asked for; without one the turn is cancelled.
        self.choice = None

    def on_connect(self, conn):
        self.agent = conn

    async def tell(self, event):
        print(json.dumps(event))
        self.events.append(event)
        async with self.told:
            self.told.notify_all()

    async def until(self, fits, start):
        """The number of the first update from `start` on that fits."""

        def found():
            numbers = range(start, len(self.events))
            return next((at + 1 for at in numbers if fits(self.events[at].get("update", {}))), 0)

        async with self.told:
            return await self.told.wait_for(found) - 1

    async def session_update(self, session_id, update, **_):
        await self.tell({"update": plain(update)})

    async def request_permission(self, session_id, tool_call, options, **_):
        asked = {"toolCall": plain(tool_call), "options": [plain(option) for option in options]}
        await self.tell({"permission": asked})
        chosen = next((option for option in options if option.kind == self.choice), None)
        if chosen:
            outcome = AllowedOutcome(outcome="selected", option_id=chosen.option_id)
        else:
            await self.agent.cancel(session_id=session_id)
            outcome = DeniedOutcome(outcome="cancelled")
        return acp.RequestPermissionResponse(outcome=outcome)

    async def read_text_file(self, session_id, path, line=None, limit=None, **_):
        await self.tell({"read": {"path": path}})
        if not path.endswith("editor.txt"):
            raise acp.RequestError.resource_not_found(path)
        return acp.ReadTextFileResponse(content="in the editor")


async def first(agent, listener, cwd):
    opened = await agent.new_session(cwd=cwd)
    await listener.tell({"opened": plain(opened)})
    session = opened.session_id

    async def turn(text):
        answer = await agent.prompt(session_id=session, prompt=[acp.text_block(text)])
        await listener.tell({"prompted": plain(answer)})

    async def talk():
        start = len(listener.events)
        talking = asyncio.create_task(turn("talk"))
        await listener.until(says("word"), start)
        return talking, start

    async def inject(mode, text):
        # The SDK puts `_` before the name of a method it does not know.
        content = [{"type": "text", "text": text}]
        params = {"sessionId": session, "mode": mode, "content": content}
        await listener.tell({"injected": await agent.ext_method("session/inject", params)})

    await turn("hello")
    await turn("plan")
    await turn("read editor.txt")
    listener.choice = "allow_once"
    await turn("write allowed.txt words")
    listener.choice = "reject_once"
    await turn("write rejected.txt words")
    listener.choice = None
    await turn("write cancelled.txt words")

    talking, _ = await talk()
    await agent.cancel(session_id=session)
    await talking

    talking, start = await talk()
    await inject("queue", "later")
    await inject("steer", "left")
    await talking
    await listener.until(is_idle, await listener.until(says("later"), start))

    await listener.tell({"listed": plain(await agent.list_sessions(cwd=cwd))})
    await listener.tell({"closed": plain(await agent.close_session(session_id=session))})
    return session


async def second(agent, listener, cwd, session):
    opened = await agent.load_session(cwd=cwd, session_id=session)
    await listener.tell({"opened": plain(opened)})
    answer = await agent.prompt(session_id=session, prompt=[acp.text_block("again")])
    await listener.tell({"prompted": plain(answer)})


async def with_agent(command, args, talk):
    """Runs `talk` with an agent of its own."""
    listener = Listener()
    # The SDK passes on neither the environment nor what the agent writes to standard error.
    shown = {"stderr": None}
    spawned = acp.spawn_agent_process(listener, command, *args, env=os.environ, transport_kwargs=shown)
    async with spawned as (agent, process):
        me = Implementation(name="python-sdk", version="0.12.1")
        initialized = await agent.initialize(
            protocol_version=acp.PROTOCOL_VERSION, client_capabilities=CAPABILITIES, client_info=me
        )
        await listener.tell({"initialized": plain(initialized)})
        result = await talk(agent, listener)
    await listener.tell({"ended": process.returncode})
    return result


async def main(cwd, command, *args):
    session = await with_agent(command, args, lambda agent, listener: first(agent, listener, cwd))
    await with_agent(command, args, lambda agent, listener: second(agent, listener, cwd, session))


asyncio.run(main(*sys.argv[1:]))
