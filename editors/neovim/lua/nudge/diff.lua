-- What an edit changes, in the smallest pieces a person would see: computed from lines, without looking at a buffer.
local M = {}

-- Lines longer than this, in bytes, are compared only at their ends.
local LONG = 4000
local lines_diff = vim.text and vim.text.diff or vim.diff

---@class nudge.Piece
---@field kind 'insert'|'delete'|'add_lines'|'delete_line'
---@field row integer counted from zero
---@field col? integer where text is inserted or deleted
---@field end_col? integer
---@field text? string
---@field lines? string[] whole lines, which come after `row`

--- What turns the old lines, the first of which is at `row`, into the new ones.
---@param row integer
---@param old string[]
---@param new string[]
---@return nudge.Piece[]
function M.pieces(row, old, new)
  local pieces = {}
  local hunks = lines_diff(M.one_a_line(old), M.one_a_line(new), {
    result_type = 'indices',
    algorithm = 'minimal',
    linematch = 60,
  }) --[[@as integer[][] ]]
  for _, hunk in ipairs(hunks) do
    M.hunk(pieces, row, old, new, hunk)
  end
  return pieces
end

--- Lines that stand for each other are compared word by word, the others are whole lines that come or go.
function M.hunk(pieces, row, old, new, hunk)
  local from, old_count, to, new_count = unpack(hunk)
  local pairs_count = math.min(old_count, new_count)
  for i = 0, pairs_count - 1 do
    vim.list_extend(pieces, M.words(row + from + i - 1, old[from + i], new[to + i]))
  end
  for i = pairs_count, old_count - 1 do
    table.insert(pieces, { kind = 'delete_line', row = row + from + i - 1, text = old[from + i] })
  end
  if new_count > pairs_count then
    -- With nothing replaced, a hunk's first line is the one before it.
    local after = old_count == 0 and from - 1 or from + pairs_count - 2
    local added = vim.list_slice(new, to + pairs_count, to + new_count - 1)
    table.insert(pieces, { kind = 'add_lines', row = row + after, lines = added })
  end
end

--- What is left of two lines without what they have in common at their beginning and end.
function M.ends(row, old, new)
  local prefix = M.common_prefix(old, new)
  local suffix = M.common_suffix(old:sub(prefix + 1), new:sub(prefix + 1))
  local pieces = {}
  M.span(pieces, row, old:sub(prefix + 1, #old - suffix), new:sub(prefix + 1, #new - suffix), prefix)
  return pieces
end

--- What turns one line into another.
---@param row integer
---@param old string
---@param new string
---@return nudge.Piece[]
function M.words(row, old, new)
  if #old + #new > LONG then
    return M.ends(row, old, new)
  end
  local old_tokens, old_starts = M.tokens(old)
  local new_tokens, new_starts = M.tokens(new)
  local hunks = lines_diff(M.one_a_line(old_tokens), M.one_a_line(new_tokens), {
    result_type = 'indices',
    algorithm = 'minimal',
  }) --[[@as integer[][] ]]
  local spans = {}
  for _, hunk in ipairs(hunks) do
    local from, old_count, to, new_count = unpack(hunk)
    from = old_count == 0 and from + 1 or from
    to = new_count == 0 and to + 1 or to
    table.insert(spans, {
      old_starts[from],
      old_starts[from + old_count],
      new_starts[to],
      new_starts[to + new_count],
    })
  end
  local pieces = {}
  for _, span in ipairs(M.joined(spans, old)) do
    M.span(pieces, row, old:sub(span[1], span[2] - 1), new:sub(span[3], span[4] - 1), span[1] - 1)
  end
  return pieces
end

---@param parts string[]
function M.one_a_line(parts)
  return #parts == 0 and '' or table.concat(parts, '\n') .. '\n'
end

--- Words, blanks and single characters of a line, and the byte at which each begins, with one past the end.
---@param line string
---@return string[] tokens, integer[] starts
function M.tokens(line)
  local tokens, starts = {}, {}
  local at = 1
  while at <= #line do
    -- Bytes from 128 on are parts of characters that mostly belong to words, and are never split.
    local stop = select(2, line:find('^[%w_\128-\255]+', at)) or select(2, line:find('^%s+', at)) or at
    table.insert(tokens, line:sub(at, stop))
    table.insert(starts, at)
    at = stop + 1
  end
  table.insert(starts, at)
  return tokens, starts
end

--- Changes with next to nothing between them are one change, and so are many on one line.
function M.joined(spans, old)
  if #spans > 3 then
    local first, last = spans[1], spans[#spans]
    return { { first[1], last[2], first[3], last[4] } }
  end
  local joined = {}
  for _, span in ipairs(spans) do
    local before = joined[#joined]
    if before and not old:sub(before[2], span[1] - 1):find('[%w_\128-\255]') then
      before[2], before[4] = span[2], span[4]
    else
      table.insert(joined, span)
    end
  end
  return joined
end

--- One replacement. Where the new text only adds to the old one, nothing is shown as deleted.
function M.span(pieces, row, old, new, col)
  local prefix = M.common_prefix(old, new)
  local suffix = M.common_suffix(old:sub(prefix + 1), new:sub(prefix + 1))
  if prefix + suffix == #old or prefix + suffix == #new then
    old, new = old:sub(prefix + 1, #old - suffix), new:sub(prefix + 1, #new - suffix)
    col = col + prefix
  end
  if old ~= '' then
    table.insert(pieces, { kind = 'delete', row = row, col = col, end_col = col + #old, text = old })
  end
  if new ~= '' then
    table.insert(pieces, { kind = 'insert', row = row, col = col + #old, text = new })
  end
end

--- How many bytes of whole characters two texts have in common at their beginning.
function M.common_prefix(a, b)
  local n = 0
  while n < #a and n < #b and a:byte(n + 1) == b:byte(n + 1) do
    n = n + 1
  end
  -- Not between the bytes of one character.
  while n > 0 and (M.continues(a:byte(n + 1)) or M.continues(b:byte(n + 1))) do
    n = n - 1
  end
  return n
end

--- The same at their end.
function M.common_suffix(a, b)
  local n = 0
  while n < #a and n < #b and a:byte(#a - n) == b:byte(#b - n) do
    n = n + 1
  end
  while n > 0 and M.continues(a:byte(#a - n + 1)) do
    n = n - 1
  end
  return n
end

---@param byte? integer
function M.continues(byte)
  return byte ~= nil and byte >= 0x80 and byte < 0xC0
end

return M
