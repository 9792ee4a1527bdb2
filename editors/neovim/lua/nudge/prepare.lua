-- A suggestion of the server made ready for the screen: what is drawn, where it is, and what it does when it is taken.
local show = require('nudge.show')
local text = require('nudge.text')

local M = {}

local api = vim.api

---@param question table
---@param raw table
---@return nudge.Shown?
function M.prepare(question, raw)
  raw = M.without_null(raw)
  local new = {
    id = raw.id,
    buf = question.buf,
    tick = question.tick,
    client = question.client,
    raw = raw,
    pieces = {},
  }
  local here = vim.uri_from_bufnr(question.buf)
  if raw.kind == 'jump' then
    return M.jump(new, raw.uri, raw.position)
  elseif raw.kind == 'edit' and raw.uri ~= here then
    return M.jump(new, raw.uri, raw.edits[1].range.start)
  elseif raw.kind == 'edit' then
    return M.edit(new, raw.edits, question.cursor)
  elseif raw.kind == 'rename' and M.can_rename(new.buf) then
    return M.rename(new, raw)
  elseif raw.edit then
    return M.workspace(new, raw, here)
  end
end

function M.without_null(raw)
  return vim.iter(pairs(raw)):fold({}, function(kept, key, value)
    kept[key] = value ~= vim.NIL and value or nil
    return kept
  end)
end

--- Whether the language has a server of its own that can rename; it knows better.
function M.can_rename(buf)
  return #vim.lsp.get_clients({ bufnr = buf, method = 'textDocument/rename' }) > 0
end

--- A rename that the language's own server is to do.
function M.rename(new, raw)
  new.kind = 'rename'
  new.target = { uri = raw.uri, position = raw.position }
  new.key = table.concat({ 'rename', raw.uri, raw.newName }, '\0')
  return new
end

function M.jump(new, uri, position)
  new.kind = 'jump'
  new.target = { uri = uri, position = position }
  new.key = table.concat({ 'jump', uri, position.line }, '\0')
  return new
end

--- Nothing is shown for an edit that was made for another state of the text, or that changes nothing.
function M.edit(new, edits, cursor)
  if new.raw.version and new.raw.version ~= vim.lsp.util.buf_versions[new.buf] then
    return nil
  end
  new.kind = 'edit'
  new.edits = edits
  new.pieces = show.pieces(new.buf, text.edits(new.buf, edits, new.client.offset_encoding))
  if #new.pieces == 0 then
    return nil
  end
  new.ghost = M.ghost(new, cursor)
  new.target = { uri = new.raw.uri, position = edits[1].range.start }
  new.key = M.effect(new)
  return new
end

--- Ghost text is for where one types; in normal mode the cursor stands on a character.
function M.ghost(new, cursor)
  if api.nvim_get_mode().mode:sub(1, 1) ~= 'i' then
    return nil
  end
  local row = cursor[1] - 1
  local line = api.nvim_buf_get_lines(new.buf, row, row + 1, false)[1] or ''
  return show.ghost(new.pieces, row, cursor[2], line)
end

--- Several places at once: those in this buffer are drawn, the others are counted.
function M.workspace(new, raw, here)
  new.kind = 'workspace'
  new.workspace = raw.edit
  new.files, new.places = 0, 0
  local edits = {}
  for uri, list in pairs(M.by_file(raw.edit)) do
    new.files, new.places = new.files + 1, new.places + #list
    edits = uri == here and list or edits
  end
  new.pieces = show.pieces(new.buf, text.edits(new.buf, edits, new.client.offset_encoding))
  new.target = raw.position and { uri = raw.uri, position = raw.position }
    or { uri = here, position = edits[1] and edits[1].range.start }
  new.key = table.concat({ raw.kind, raw.newName or '', M.effect(new) }, '\0')
  return new.places > 0 and new or nil
end

---@param edit lsp.WorkspaceEdit
---@return table<string, lsp.TextEdit[]>
function M.by_file(edit)
  local files = {}
  for uri, edits in pairs(edit.changes or {}) do
    files[uri] = edits
  end
  for _, change in ipairs(edit.documentChanges or {}) do
    if change.textDocument then
      files[change.textDocument.uri] = change.edits
    end
  end
  return files
end

--- What it does and where, so that the same is known again under another id. Lines move, so the line's text stands for
--- its number.
---@param new nudge.Shown
function M.effect(new)
  local parts = { api.nvim_buf_get_name(new.buf) }
  for _, piece in ipairs(new.pieces) do
    local line = api.nvim_buf_get_lines(new.buf, math.max(piece.row, 0), math.max(piece.row, 0) + 1, false)[1] or ''
    vim.list_extend(parts, { piece.kind, line, tostring(piece.col), piece.text or table.concat(piece.lines, '\n') })
  end
  return table.concat(parts, '\0')
end

---@param new nudge.Shown
---@param question table
function M.draw(new, question)
  show.draw(new.buf, new.pieces, new.ghost ~= nil)
  local row = question.cursor[1] - 1
  if new.kind == 'jump' then
    show.hint(new.buf, row, M.place(new) .. M.because(new))
  elseif new.kind == 'rename' then
    show.hint(new.buf, row, 'rename to ' .. new.raw.newName .. M.because(new))
  elseif new.kind == 'workspace' then
    show.hint(new.buf, row, ('%d places in %d files'):format(new.places, new.files) .. M.because(new))
  elseif not M.on_screen(new) then
    show.hint(new.buf, row, ('line %d'):format(new.pieces[1].row + 1) .. M.because(new))
  elseif not new.ghost then
    show.hint(new.buf, math.max(new.pieces[1].row, 0), new.raw.reason or '')
  end
end

--- A place in words: a line of this file or of another.
---@param new nudge.Shown
function M.place(new)
  local line = ('line %d'):format(new.target.position.line + 1)
  if new.target.uri == vim.uri_from_bufnr(new.buf) then
    return line
  end
  return ('%s:%d'):format(vim.fn.fnamemodify(vim.uri_to_fname(new.target.uri), ':.'), new.target.position.line + 1)
end

--- Why it is offered; that a jump goes somewhere is said by the place.
---@param new nudge.Shown
function M.because(new)
  local reason = (new.raw.reason or ''):gsub('^goes to the next edit, which ', '')
  return reason ~= '' and (': ' .. reason) or ''
end

--- Whether the first place is in the window.
---@param new nudge.Shown
function M.on_screen(new)
  local row = new.pieces[1] and math.max(new.pieces[1].row, 0) + 1
  return row ~= nil and row >= vim.fn.line('w0') and row <= vim.fn.line('w$')
end

--- Whether the cursor's line is the first that changes.
---@param new nudge.Shown
function M.under_cursor(new)
  return new.pieces[1] ~= nil and math.max(new.pieces[1].row, 0) + 1 == api.nvim_win_get_cursor(0)[1]
end

--- If the user has typed the next characters of ghost text, draws the rest.
---@param what nudge.Shown
---@return boolean
function M.typed_into(what)
  if api.nvim_get_current_buf() ~= what.buf then
    return false
  end
  local first = what.pieces[1]
  local cursor = api.nvim_win_get_cursor(0)
  if first.kind ~= 'insert' or first.row ~= cursor[1] - 1 or cursor[2] <= first.col then
    return false
  end
  local line = api.nvim_buf_get_lines(what.buf, first.row, first.row + 1, false)[1]
  local typed = line:sub(first.col + 1, cursor[2])
  if #typed >= #first.text or not vim.startswith(first.text, typed) then
    return false
  end
  first.text = first.text:sub(#typed + 1)
  first.col = cursor[2]
  what.ghost = what.ghost:sub(#typed + 1)
  show.clear(what.buf)
  show.draw(what.buf, what.pieces, true)
  return true
end

return M
