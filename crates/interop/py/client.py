"""A client made with the official Python SDK: initialises an agent, has a turn with it if there is a prompt, and prints
what came of it as one JSON value.

    python client.py PROMPT AGENT [ARGUMENT]...
"""

import asyncio
import json
import os
import sys

import acp
from acp.schema import AgentMessageChunk, Implementation, TextContentBlock


class Listener(acp.Client):
    def __init__(self):
        self.text = ""

    async def session_update(self, session_id, update, **_):
        if isinstance(update, AgentMessageChunk) and isinstance(update.content, TextContentBlock):
            self.text += update.content.text


async def main(prompt, command, *args):
    listener = Listener()
    async with acp.spawn_agent_process(listener, command, *args) as (agent, _):
        initialized = await agent.initialize(
            protocol_version=acp.PROTOCOL_VERSION,
            client_info=Implementation(name="python-sdk", version="0.12.1"),
        )
        report = {"initialized": initialized.model_dump(mode="json", by_alias=True, exclude_none=True)}
        if prompt:
            session = await agent.new_session(cwd=os.getcwd())
            answer = await agent.prompt(session_id=session.session_id, prompt=[acp.text_block(prompt)])
            report |= {"text": listener.text, "stopReason": answer.stop_reason}
        else:
            try:
                await agent.ext_method("nobody/knows", {})
            except acp.RequestError as error:
                report["refused"] = error.code
        print(json.dumps(report))


asyncio.run(main(*sys.argv[1:]))
