-- What a suggestion looks like: extmarks in one namespace, drawn as a whole and removed as a whole.
local config = require('nudge.config')
local diff = require('nudge.diff')

local M = {}

local api = vim.api
M.namespace = api.nvim_create_namespace('nudge')
-- Above syntax and diagnostics, below the search that the user makes.
local PRIORITY = 190

local links = {
  NudgeGhost = 'Comment',
  NudgeAdd = 'DiffAdd',
  NudgeDelete = 'DiffDelete',
  NudgeHint = 'Comment',
}

function M.highlights()
  for group, link in pairs(links) do
    api.nvim_set_hl(0, group, { link = link, default = true })
  end
end

--- The pieces of a suggestion's edits, with edits that share a line taken together.
---@param buf integer
---@param edits nudge.Edit[]
---@return nudge.Piece[]
function M.pieces(buf, edits)
  local pieces = {}
  local from = 1
  while from <= #edits do
    local to, last_row = from, edits[from].end_row
    while to < #edits and edits[to + 1].row <= last_row do
      to = to + 1
      last_row = math.max(last_row, edits[to].end_row)
    end
    local first_row = edits[from].row
    local old = api.nvim_buf_get_lines(buf, first_row, last_row + 1, false)
    local new = M.applied(old, first_row, vim.list_slice(edits, from, to))
    vim.list_extend(pieces, diff.pieces(first_row, old, new))
    from = to + 1
  end
  return pieces
end

--- The lines after the edits; `old[1]` is at `first_row`.
---@param old string[]
---@param first_row integer
---@param edits nudge.Edit[]
---@return string[]
function M.applied(old, first_row, edits)
  local parts = {}
  local row, col = first_row, 0
  local function keep(to_row, to_col)
    while row < to_row do
      table.insert(parts, old[row - first_row + 1]:sub(col + 1) .. '\n')
      row, col = row + 1, 0
    end
    table.insert(parts, (old[row - first_row + 1] or ''):sub(col + 1, to_col))
    col = to_col
  end
  for _, edit in ipairs(edits) do
    keep(edit.row, edit.col)
    table.insert(parts, edit.text)
    row, col = edit.end_row, edit.end_col
  end
  local last = first_row + #old - 1
  keep(last, #(old[#old] or ''))
  return vim.split(table.concat(parts), '\n', { plain = true })
end

--- What would be typed at the cursor, if the pieces are nothing else: the rest of its line and lines after it.
---@param pieces nudge.Piece[]
---@param row integer
---@param col integer
---@param line string the cursor's line
---@return string?
function M.ghost(pieces, row, col, line)
  local first, second = pieces[1], pieces[2]
  if #pieces == 0 or #pieces > 2 then
    return nil
  end
  local text = ''
  if first.kind == 'insert' and first.row == row and first.col == col then
    text = first.text
    first = second
  elseif second then
    return nil
  end
  if not first then
    return text
  end
  if first.kind == 'add_lines' and first.row == row and col == #line then
    return text .. '\n' .. table.concat(first.lines, '\n')
  end
  return nil
end

---@param buf integer
---@param pieces nudge.Piece[]
---@param ghost boolean
function M.draw(buf, pieces, ghost)
  local group = ghost and 'NudgeGhost' or 'NudgeAdd'
  for _, piece in ipairs(pieces) do
    M.piece(buf, piece, group)
  end
end

---@param buf integer
---@param piece nudge.Piece
---@param group string
function M.piece(buf, piece, group)
  local col, options = piece.col or 0, { priority = PRIORITY, strict = false }
  if piece.kind == 'insert' then
    options.virt_text = { { M.printable(buf, piece.text), group } }
    options.virt_text_pos = 'inline'
  elseif piece.kind == 'delete' then
    options.end_col, options.hl_group = piece.end_col, 'NudgeDelete'
  elseif piece.kind == 'delete_line' then
    options.end_row, options.hl_group, options.hl_eol = piece.row + 1, 'NudgeDelete', true
  else
    options.virt_lines = vim.tbl_map(function(line)
      return { { M.printable(buf, line), group } }
    end, piece.lines)
    -- Lines before the first one have no line to stand below.
    options.virt_lines_above = piece.row < 0
  end
  api.nvim_buf_set_extmark(buf, M.namespace, math.max(piece.row, 0), col, options)
  if options.virt_lines_above then
    M.reveal_top(#piece.lines)
  end
end

--- The editor does not scroll by itself to what stands above the first line.
---@param count integer
function M.reveal_top(count)
  if vim.fn.line('w0') == 1 then
    vim.fn.winrestview({ topline = 1, topfill = count })
  end
end

--- Virtual text does not expand tabs at the buffer's width by itself.
---@param buf integer
---@param text string
function M.printable(buf, text)
  return (text:gsub('\t', (' '):rep(vim.bo[buf].tabstop)))
end

--- A note at the end of a line: which key to press, and why.
---@param buf integer
---@param row integer
---@param words string
function M.hint(buf, row, words)
  if not config.values.hint then
    return
  end
  api.nvim_buf_set_extmark(buf, M.namespace, row, 0, {
    virt_text = { { '  ⇥ ' .. words, 'NudgeHint' } },
    virt_text_pos = 'eol',
    priority = PRIORITY,
    strict = false,
  })
end

---@param buf integer
function M.clear(buf)
  if api.nvim_buf_is_valid(buf) then
    api.nvim_buf_clear_namespace(buf, M.namespace, 0, -1)
  end
end

return M
