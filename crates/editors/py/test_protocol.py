"""`nudge lsp` as the official protocol library sees it: every message is checked against LSP's own types.

Run by `cargo test -p nudge-editors protocol`; NUDGE_BIN names the program.
"""

import os
from typing import Union

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities, make_test_lsp_client

URI = "file:///project/sum.py"
# What stands before the name counts differently in each encoding.
LINES = [
    "def add(items):",
    '    """🙂é"""; total = 0',
    "    for item in items:",
    '        keep("👩‍🚀", total)',
    '    return "ä", total',
]
UNITS = {
    types.PositionEncodingKind.Utf8: lambda text: len(text.encode()),
    types.PositionEncodingKind.Utf16: lambda text: len(text.encode("utf-16-le")) // 2,
    types.PositionEncodingKind.Utf32: len,
}
EDITORS = ["neovim@v0.11.0", "emacs@v29.1", "visual-studio-code@v1.65.2"]


def make_client() -> LanguageClient:
    client = make_test_lsp_client()

    # The library takes every code action with a command for the command alone.
    def code_action(said, _):
        kind = types.Command if isinstance(said.get("command"), str) else types.CodeAction
        return converter.structure(said, kind)

    converter = client.protocol._converter
    converter.register_structure_hook(Union[types.Command, types.CodeAction], code_action)

    @client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def register(params: types.RegistrationParams):
        assert [one.method for one in params.registrations] == [types.WORKSPACE_DID_CHANGE_CONFIGURATION]

    return client


@pytest_lsp.fixture(
    params=[(editor, encoding) for editor in EDITORS for encoding in UNITS],
    ids=lambda param: f"{param[0]} {param[1].value}",
    config=ClientServerConfig(
        client_factory=make_client,
        server_command=[os.environ["NUDGE_BIN"], "lsp", "--no-daemon"],
        server_env={**os.environ, "NUDGE_DATA": ""},
    ),
)
async def client(request, lsp_client: LanguageClient):
    editor, encoding = request.param
    capabilities = client_capabilities(editor)
    capabilities.general = capabilities.general or types.GeneralClientCapabilities()
    capabilities.general.position_encodings = [encoding]
    params = types.InitializeParams(capabilities=capabilities, root_uri="file:///project")
    answer = await lsp_client.initialize_session(params)
    assert answer.capabilities.position_encoding == encoding
    lsp_client.units = UNITS[encoding]
    yield
    await lsp_client.shutdown_session()


class Text:
    """A document as an editor holds it."""

    def __init__(self, client, line_break="\n"):
        self.client, self.lines, self.version = client, list(LINES), 1
        item = types.TextDocumentItem(URI, "python", 1, line_break.join(LINES) + line_break)
        client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def position(self, line, byte_text):
        return types.Position(line, self.client.units(byte_text))

    def change(self, line, old, new):
        before = self.lines[line].split(old)[0]
        span = types.Range(self.position(line, before), self.position(line, before + old))
        self.version += 1
        document = types.VersionedTextDocumentIdentifier(self.version, URI)
        change = types.TextDocumentContentChangePartial(range=span, text=new)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        self.lines[line] = self.lines[line].replace(old, new, 1)
        return self.position(line, before + new)

    def at(self, position):
        line = self.lines[position.line]
        return next(at for at in range(len(line) + 1) if self.client.units(line[:at]) == position.character)

    def apply(self, edits):
        for edit in sorted(edits, key=lambda edit: (edit.range.start.line, edit.range.start.character), reverse=True):
            assert edit.range.start.line == edit.range.end.line
            number = edit.range.start.line
            start, end = self.at(edit.range.start), self.at(edit.range.end)
            self.lines[number] = self.lines[number][:start] + edit.new_text + self.lines[number][end:]


def edits_of(edit: types.WorkspaceEdit):
    if edit.document_changes is not None:
        [change] = edit.document_changes
        assert change.text_document.uri == URI
        return change.edits
    return edit.changes[URI]


async def actions(client, position):
    span = types.Range(position, position)
    context = types.CodeActionContext([], trigger_kind=types.CodeActionTriggerKind.Invoked)
    document = types.TextDocumentIdentifier(URI)
    return await client.text_document_code_action_async(types.CodeActionParams(document, span, context))


@pytest.mark.parametrize("line_break", ["\n", "\r\n"], ids=["lf", "crlf"])
async def test_the_code_action_makes_the_text_that_was_meant(client: LanguageClient, line_break):
    text = Text(client, line_break)
    [action] = await actions(client, text.change(1, "total", "summe"))
    assert action.title.startswith("Apply next edit: ")
    text.apply(edits_of(action.edit))
    assert text.lines == [line.replace("total", "summe") for line in LINES]
    command = types.ExecuteCommandParams(action.command.command, action.command.arguments)
    assert (await client.workspace_execute_command_async(command))["state"] == "ready"


async def test_ghost_text_is_at_the_cursor(client: LanguageClient):
    text = Text(client)
    await actions(client, text.change(1, "total", "summe"))
    before = LINES[4].split("total")[0]
    position = text.position(4, before)
    context = types.InlineCompletionContext(types.InlineCompletionTriggerKind.Automatic)
    params = types.InlineCompletionParams(context, types.TextDocumentIdentifier(URI), position)
    answer = await client.text_document_inline_completion_async(params)
    [item] = answer.items
    assert (item.insert_text, item.range.start) == ("summe", position)
    assert text.at(item.range.end) == len(before) + len("total")


async def test_the_server_has_the_editor_apply_the_edit(client: LanguageClient):
    text = Text(client)
    position = text.change(1, "total", "summe")
    applied = []

    @client.feature(types.WORKSPACE_APPLY_EDIT)
    def apply(params: types.ApplyWorkspaceEditParams):
        applied.append(params)
        return types.ApplyWorkspaceEditResult(applied=True)

    where = {"line": position.line, "character": position.character}
    command = types.ExecuteCommandParams("nudge.applyNextEdit", [URI, where])
    await client.workspace_execute_command_async(command)
    text.apply(edits_of(applied[0].edit))
    assert text.lines == [line.replace("total", "summe") for line in LINES]


async def test_nothing_is_said_to_the_user(client: LanguageClient):
    text = Text(client)
    await actions(client, text.change(1, "total", "summe"))
    assert (client.messages, client.log_messages) == ([], [])
