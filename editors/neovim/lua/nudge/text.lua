-- Positions of the protocol and bytes of a buffer, each turned into the other.
local M = {}

---@param buf integer
---@param row integer
---@return string
local function line_at(buf, row)
  return vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
end

--- The row and byte column of a position; past the end of line or buffer means its end.
---@param buf integer
---@param position lsp.Position
---@param encoding string
---@return integer row, integer col
function M.to_bytes(buf, position, encoding)
  local last = vim.api.nvim_buf_line_count(buf) - 1
  if position.line > last then
    return last, #line_at(buf, last)
  end
  local line = line_at(buf, position.line)
  return position.line, math.min(vim.str_byteindex(line, encoding, position.character, false), #line)
end

--- The position of a row and byte column.
---@return lsp.Position
function M.to_position(buf, row, col, encoding)
  local line = line_at(buf, row)
  return { line = row, character = vim.str_utfindex(line, encoding, math.min(col, #line), false) }
end

local line_ends = { unix = '\n', dos = '\r\n', mac = '\r' }

--- The text of a buffer as its file would have it.
---@param buf integer
---@return string
function M.whole(buf)
  local line_end = line_ends[vim.bo[buf].fileformat]
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, true)
  return table.concat(lines, line_end) .. (vim.bo[buf].eol and line_end or '')
end

--- When the first change was made that is not saved, in seconds; nil if it is not known.
---@param buf integer
---@return integer?
local function changed_at(buf)
  local first
  for _, change in ipairs(vim.fn.undotree(buf).entries) do
    -- What was saved is in the file.
    first = not change.save and (first or change.time) or nil
  end
  return first
end

--- The text of a buffer before it was changed: that of its file if there are changes that were not saved, and the file
--- has not been changed since; nil if it is not known. Neovim does not tell which time of the file it has read.
---@param buf integer
---@return string?
function M.unchanged(buf)
  if not vim.bo[buf].modified then
    return M.whole(buf)
  elseif vim.bo[buf].fileencoding ~= '' and vim.bo[buf].fileencoding ~= 'utf-8' then
    return nil
  end
  local name, changed = vim.api.nvim_buf_get_name(buf), changed_at(buf)
  if not changed or vim.fn.getftime(name) > changed then
    return nil
  end
  local file = io.open(name, 'rb')
  local saved = file and file:read('*a')
  if file then
    file:close()
  end
  -- A byte order mark is not part of the text.
  return saved and (saved:gsub('^\239\187\191', ''))
end

---@class nudge.Edit an edit in bytes; rows and columns count from zero
---@field row integer
---@field col integer
---@field end_row integer
---@field end_col integer
---@field text string

--- Edits of the protocol as edits in bytes, in order. An edit past the last line, where the document has an empty line
--- after its final newline and the buffer has none, is one at the end of the last line.
---@param buf integer
---@param edits lsp.TextEdit[]
---@param encoding string
---@return nudge.Edit[]
function M.edits(buf, edits, encoding)
  local count = vim.api.nvim_buf_line_count(buf)
  local found = {}
  for _, edit in ipairs(edits) do
    local row, col = M.to_bytes(buf, edit.range.start, encoding)
    local end_row, end_col = M.to_bytes(buf, edit.range['end'], encoding)
    local text = edit.newText:gsub('\r\n?', '\n')
    if edit.range['end'].line >= count and text:sub(-1) == '\n' then
      text = text:sub(1, -2)
      if edit.range.start.line >= count then
        text = '\n' .. text
      end
    end
    table.insert(found, { row = row, col = col, end_row = end_row, end_col = end_col, text = text })
  end
  table.sort(found, function(a, b)
    return a.row < b.row or (a.row == b.row and a.col < b.col)
  end)
  return found
end

return M
