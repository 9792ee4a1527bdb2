-- Taking a suggestion: the whole of it, its next word or line, or the way to where it is.
local client = require('nudge.client')
local diagnostics = require('nudge.diagnostics')
local prepare = require('nudge.prepare')
local suggest = require('nudge.suggest')
local text = require('nudge.text')

local M = {}

local api = vim.api
--- What waits for the keys around it, which make it one step of undo.
---@type fun()?
local pending

--- Takes what is shown.
---@param part? 'word'|'line'
---@return boolean done whether there was anything to take
function M.accept(part)
  if vim.fn.pumvisible() == 1 or vim.snippet.active({ direction = 1 }) then
    return false
  end
  local shown = suggest.settled()
  if not shown or not M.applies(shown) then
    return false
  end
  if shown.kind == 'rename' then
    M.rename(shown)
  elseif shown.kind == 'jump' or (shown.kind == 'edit' and not prepare.on_screen(shown)) then
    M.go(shown)
  elseif shown.kind == 'workspace' then
    M.take(shown, nil, function()
      vim.lsp.util.apply_workspace_edit(shown.workspace, shown.client.offset_encoding)
    end)
  else
    M.edit(shown, part)
  end
  return true
end

--- Lets the language's own server rename.
---@param shown nudge.Shown
function M.rename(shown)
  client.notify(shown.buf, 'nudge/accept', { id = shown.id })
  suggest.hide()
  M.between('<C-g>u', function()
    M.arrive(shown.target, shown.client.offset_encoding)
    vim.lsp.buf.rename(shown.raw.newName)
  end, '')
end

--- The buffer is as it was when the suggestion was made for it.
function M.applies(shown)
  return api.nvim_buf_is_valid(shown.buf)
    and vim.bo[shown.buf].modifiable
    and api.nvim_buf_get_changedtick(shown.buf) == shown.tick
end

---@param shown nudge.Shown
---@param part? 'word'|'line'
function M.edit(shown, part)
  local piece = part and shown.ghost and M.part(shown.ghost, part)
  if piece and #piece < #shown.ghost then
    M.take(shown, part, function()
      M.type(shown.buf, piece)
    end)
  elseif part and not shown.ghost and #shown.edits > 1 then
    M.take(shown, part, function()
      vim.lsp.util.apply_text_edits({ shown.edits[1] }, shown.buf, shown.client.offset_encoding)
    end)
  else
    M.take(shown, nil, function()
      M.whole(shown)
    end)
  end
end

--- The first word of a text with the blanks before it, or its first line.
---@param ghost string
---@param part 'word'|'line'
function M.part(ghost, part)
  if part == 'line' then
    return ghost:match('^\n?[^\n]*')
  end
  return vim.fn.matchstr(ghost, [[^\_s*\%(\k\+\|.\)]])
end

--- Inserts at the cursor, as if typed.
function M.type(buf, typed)
  local cursor = api.nvim_win_get_cursor(0)
  local lines = vim.split(typed, '\n', { plain = true })
  api.nvim_buf_set_text(buf, cursor[1] - 1, cursor[2], cursor[1] - 1, cursor[2], lines)
  local col = #lines == 1 and cursor[2] + #typed or #lines[#lines]
  api.nvim_win_set_cursor(0, { cursor[1] + #lines - 1, col })
end

---@param shown nudge.Shown
function M.whole(shown)
  local encoding = shown.client.offset_encoding
  local edits = text.edits(shown.buf, shown.edits, encoding)
  vim.lsp.util.apply_text_edits(shown.edits, shown.buf, encoding)
  local row, col = M.after(edits)
  if shown.raw.cursor then
    row, col = text.to_bytes(shown.buf, shown.raw.cursor, encoding)
  end
  if math.abs(row + 1 - api.nvim_win_get_cursor(0)[1]) > 1 then
    vim.cmd("normal! m'")
  end
  api.nvim_win_set_cursor(0, { math.min(row + 1, api.nvim_buf_line_count(shown.buf)), col })
end

--- Where the last edit ends once all are made.
---@param edits nudge.Edit[]
---@return integer row, integer col
function M.after(edits)
  local moved = 0
  for i = 1, #edits - 1 do
    local _, lines = edits[i].text:gsub('\n', '')
    moved = moved + lines - (edits[i].end_row - edits[i].row)
  end
  local last = edits[#edits]
  local lines = vim.split(last.text, '\n', { plain = true })
  local col = #lines == 1 and last.col + #last.text or #lines[#lines]
  return last.row + moved + #lines - 1, col
end

--- Says that it is taken, and takes it as one step of undo: in insert mode what was typed before and what will be typed
--- after it are steps of their own.
---@param shown nudge.Shown
---@param part? 'word'|'line'
---@param apply fun()
function M.take(shown, part, apply)
  client.notify(shown.buf, 'nudge/accept', { id = shown.id, part = part })
  diagnostics.fixed(shown.buf, shown.pieces)
  suggest.hide()
  M.between('<C-g>u', apply, '<C-g>u')
end

--- Goes to where a suggestion is about and asks again from there. Another file begins in normal mode, as with every
--- other way to open it.
---@param shown nudge.Shown
function M.go(shown)
  if shown.kind == 'jump' then
    client.notify(shown.buf, 'nudge/accept', { id = shown.id })
  end
  suggest.hide()
  local other = shown.target.uri ~= vim.uri_from_bufnr(shown.buf)
  M.between(other and '<Esc>' or '', function()
    M.arrive(shown.target, shown.client.offset_encoding)
  end, '')
end

---@param target { uri: string, position: lsp.Position }
---@param encoding string
function M.arrive(target, encoding)
  vim.cmd("normal! m'")
  local buf = vim.uri_to_bufnr(target.uri)
  if buf ~= api.nvim_get_current_buf() then
    vim.bo[buf].buflisted = true
    api.nvim_win_set_buf(0, buf)
  end
  local row, col = text.to_bytes(buf, target.position, encoding)
  api.nvim_win_set_cursor(0, { row + 1, col })
  vim.cmd('normal! zv')
  suggest.ask('automatic')
end

--- Does something at once, or in insert mode between keys.
---@param before string
---@param apply fun()
---@param after string
function M.between(before, apply, after)
  if api.nvim_get_mode().mode:sub(1, 1) ~= 'i' then
    apply()
    return
  end
  pending = apply
  local typed = before .. '<Cmd>lua require("nudge.accept").run_pending()<CR>' .. after
  api.nvim_feedkeys(api.nvim_replace_termcodes(typed, true, true, true), 'in', false)
end

function M.run_pending()
  local apply = pending
  pending = nil
  if apply then
    apply()
  end
end

return M
