"""A vendor's own library talks to a stand-in for the vendor: asks with a tool, sends what came of it, and is refused once.
Prints what it made of the answers as one JSON value.

    python vendors.py DIALECT URL
"""

import json
import sys

SYSTEM = "Be brief."
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


class Answer:
    """What is gathered of a stream."""

    def __init__(self):
        self.thoughts = ""
        self.text = ""
        self.calls = []
        self.tokens = None

    def plain(self):
        return {"thoughts": self.thoughts, "text": self.text, "calls": self.calls, "tokens": self.tokens}


def anthropic(url):
    from anthropic import Anthropic, RateLimitError

    client = Anthropic(api_key="key", base_url=url, max_retries=0)
    tools = [{"name": "read", "description": "Reads.", "input_schema": SCHEMA}]

    def ask(messages):
        answer = Answer()
        thinking = {"type": "enabled", "budget_tokens": 1024}
        common = {"model": "claude-x", "max_tokens": 2048, "system": SYSTEM, "tools": tools, "thinking": thinking}
        with client.messages.stream(messages=messages, **common) as stream:
            final = stream.get_final_message()
        for block in final.content:
            if block.type == "thinking":
                answer.thoughts += block.thinking
            elif block.type == "text":
                answer.text += block.text
            elif block.type == "tool_use":
                answer.calls.append([block.name, block.input])
        answer.tokens = [final.usage.input_tokens, final.usage.output_tokens]
        return answer, final.content

    messages = [{"role": "user", "content": "look"}]
    first, content = ask(messages)
    used = next(block for block in content if block.type == "tool_use")
    result = {"type": "tool_result", "tool_use_id": used.id, "content": "fn main"}
    second, _ = ask(messages + [{"role": "assistant", "content": content}, {"role": "user", "content": [result]}])
    return first, second, refusal(lambda: ask([{"role": "user", "content": "busy"}]), RateLimitError)


def chat(url):
    from openai import OpenAI

    return completions(OpenAI(api_key="key", base_url=f"{url}/v1", max_retries=0))


def azure(url):
    """A deployment of a resource at Azure, as it was addressed before there was one address for all of them."""
    from openai import AzureOpenAI

    return completions(AzureOpenAI(api_key="key", azure_endpoint=url, api_version="2024-10-21", max_retries=0))


def azure_v1(url):
    """A resource at Azure by the address that needs no version, with the header for its keys."""
    from openai import OpenAI

    headers = {"api-key": "key", "authorization": ""}
    return completions(OpenAI(api_key="unused", base_url=f"{url}/openai/v1", default_headers=headers, max_retries=0))


def completions(client):
    from openai import RateLimitError

    tools = [{"type": "function", "function": {"name": "read", "parameters": SCHEMA}}]

    def ask(messages):
        answer, calls = Answer(), {}
        common = {"model": "gpt-x", "tools": tools, "stream": True, "stream_options": {"include_usage": True}}
        for chunk in client.chat.completions.create(messages=messages, **common):
            if chunk.usage:
                answer.tokens = [chunk.usage.prompt_tokens, chunk.usage.completion_tokens]
            for delta in (choice.delta for choice in chunk.choices):
                answer.thoughts += (delta.model_extra or {}).get("reasoning_content") or ""
                answer.text += delta.content or ""
                for part in delta.tool_calls or []:
                    call = calls.setdefault(part.index, {"id": part.id, "name": part.function.name, "input": ""})
                    call["input"] += part.function.arguments or ""
        answer.calls = [[call["name"], json.loads(call["input"])] for call in calls.values()]
        return answer, list(calls.values())

    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "look"}]
    first, calls = ask(messages)
    call = calls[0]
    function = {"name": call["name"], "arguments": call["input"]}
    said = {"role": "assistant", "tool_calls": [{"id": call["id"], "type": "function", "function": function}]}
    result = {"role": "tool", "tool_call_id": call["id"], "content": "fn main"}
    second, _ = ask(messages + [said, result])
    return first, second, refusal(lambda: ask([{"role": "user", "content": "busy"}]), RateLimitError)


def responses(url):
    from openai import OpenAI, RateLimitError

    client = OpenAI(api_key="key", base_url=f"{url}/v1", max_retries=0)
    tools = [{"type": "function", "name": "read", "parameters": SCHEMA, "strict": False}]

    def ask(items):
        answer, final = Answer(), None
        common = {"model": "gpt-x", "instructions": SYSTEM, "tools": tools, "store": False}
        for event in client.responses.create(input=items, stream=True, **common):
            if event.type == "response.completed":
                final = event.response
            elif event.type == "response.output_text.delta":
                answer.text += event.delta
            elif event.type.startswith("response.reasoning") and event.type.endswith("text.delta"):
                answer.thoughts += event.delta
        calls = [item for item in final.output if item.type == "function_call"]
        answer.calls = [[call.name, json.loads(call.arguments)] for call in calls]
        answer.tokens = [final.usage.input_tokens, final.usage.output_tokens]
        return answer, calls

    items = [{"role": "user", "content": "look"}]
    first, calls = ask(items)
    call = calls[0]
    said = {"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments}
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "fn main"}
    second, _ = ask(items + [said, result])
    return first, second, refusal(lambda: ask([{"role": "user", "content": "busy"}]), RateLimitError)


def gemini(url):
    from google import genai
    from google.genai import types

    client = genai.Client(api_key="key", http_options=types.HttpOptions(base_url=url))
    outcome = contents(client)
    models = [model.name for model in client.models.list()]
    assert models == ["models/fake-model"], models
    return outcome


def vertex(url):
    from google import genai
    from google.genai import types
    from google.oauth2.credentials import Credentials

    options = types.HttpOptions(base_url=url)
    lent = Credentials(token="key")
    return contents(genai.Client(vertexai=True, project="p", location="l", credentials=lent, http_options=options))


def contents(client):
    from google.genai import errors, types

    declared = types.FunctionDeclaration(name="read", parameters_json_schema=SCHEMA)
    config = types.GenerateContentConfig(
        system_instruction=SYSTEM,
        tools=[types.Tool(function_declarations=[declared])],
        thinking_config=types.ThinkingConfig(include_thoughts=True),
    )

    def ask(contents):
        answer, parts = Answer(), []
        # The third generation wants back what it has signed, which the library keeps on the parts.
        chunks = client.models.generate_content_stream(model="gemini-3-x", contents=contents, config=config)
        for chunk in chunks:
            usage = chunk.usage_metadata
            answer.tokens = [usage.prompt_token_count, usage.candidates_token_count]
            for part in chunk.candidates[0].content.parts:
                parts.append(part)
                if part.function_call:
                    answer.calls.append([part.function_call.name, part.function_call.args])
                elif part.thought:
                    answer.thoughts += part.text
                else:
                    answer.text += part.text or ""
        return answer, parts

    def user(*parts):
        return types.Content(role="user", parts=list(parts))

    asked = user(types.Part.from_text(text="look"))
    first, parts = ask([asked])
    result = types.Part.from_function_response(name="read", response={"output": "fn main"})
    second, _ = ask([asked, types.Content(role="model", parts=parts), user(result)])
    busy = user(types.Part.from_text(text="busy"))
    return first, second, refusal(lambda: ask([busy]), errors.ClientError)


def ollama(url):
    from ollama import Client, ResponseError

    client = Client(host=url)
    tools = [{"type": "function", "function": {"name": "read", "parameters": SCHEMA}}]

    def ask(messages):
        answer, calls = Answer(), []
        for part in client.chat(model="m", messages=messages, tools=tools, stream=True, think=True):
            answer.thoughts += part.message.thinking or ""
            answer.text += part.message.content or ""
            calls += part.message.tool_calls or []
            if part.done:
                answer.tokens = [part.prompt_eval_count, part.eval_count]
        answer.calls = [[call.function.name, dict(call.function.arguments)] for call in calls]
        return answer, calls

    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "look"}]
    first, calls = ask(messages)
    said = {"role": "assistant", "content": first.text, "tool_calls": calls}
    result = {"role": "tool", "content": "fn main", "tool_name": "read"}
    second, _ = ask(messages + [said, result])
    names = [model.model for model in client.list().models]
    assert names == ["fake-model"], names
    shown = client.show("fake-model")
    assert shown.capabilities == ["completion", "tools"], shown
    return first, second, refusal(lambda: ask([{"role": "user", "content": "busy"}]), ResponseError)


def bedrock(url):
    import boto3
    from botocore.config import Config
    from botocore.exceptions import ClientError

    keys = {"aws_access_key_id": "AKID", "aws_secret_access_key": "secret", "aws_session_token": "lent"}
    once = Config(retries={"total_max_attempts": 1})
    client = boto3.client("bedrock-runtime", endpoint_url=url, region_name="eu-west-1", config=once, **keys)
    spec = {"name": "read", "description": "Reads.", "inputSchema": {"json": SCHEMA}}

    def ask(messages):
        answer, content, call = Answer(), [], None
        answered = client.converse_stream(
            modelId="us.anthropic.claude-x-v1:0",
            messages=messages,
            system=[{"text": SYSTEM}],
            toolConfig={"tools": [{"toolSpec": spec}]},
        )
        signed = {"text": "", "signature": ""}
        for event in answered["stream"]:
            if "contentBlockStart" in event:
                call = event["contentBlockStart"]["start"]["toolUse"] | {"input": ""}
            elif "contentBlockDelta" in event:
                delta = event["contentBlockDelta"]["delta"]
                answer.text += delta.get("text", "")
                for name, more in delta.get("reasoningContent", {}).items():
                    signed[name] += more
                if "toolUse" in delta:
                    call["input"] += delta["toolUse"]["input"]
            elif "contentBlockStop" in event and call:
                call["input"] = json.loads(call["input"])
                answer.calls.append([call["name"], call["input"]])
                content.append({"toolUse": call})
                call = None
            elif "metadata" in event:
                usage = event["metadata"]["usage"]
                answer.tokens = [usage["inputTokens"], usage["outputTokens"]]
        answer.thoughts = signed["text"]
        return answer, [{"reasoningContent": {"reasoningText": signed}}, {"text": answer.text}, *content]

    def user(*content):
        return {"role": "user", "content": list(content)}

    asked = user({"text": "look"})
    first, content = ask([asked])
    used = content[-1]["toolUse"]["toolUseId"]
    result = {"toolResult": {"toolUseId": used, "content": [{"text": "fn main"}], "status": "success"}}
    second, _ = ask([asked, {"role": "assistant", "content": content}, user(result)])
    return first, second, refusal(lambda: ask([user({"text": "busy"})]), ClientError)


def refusal(ask, kind):
    """The name of the error that the library raises, which has to be of its own kind."""
    try:
        ask()
    except kind as error:
        return type(error).__name__
    raise AssertionError("it was not refused")


DIALECTS = {
    "anthropic": anthropic,
    "chat": chat,
    "azure": azure,
    "azure_v1": azure_v1,
    "responses": responses,
    "gemini": gemini,
    "vertex": vertex,
    "ollama": ollama,
    "bedrock": bedrock,
}

first, second, refused = DIALECTS[sys.argv[1]](sys.argv[2])
print(json.dumps({"first": first.plain(), "second": second.plain(), "refused": refused}))
