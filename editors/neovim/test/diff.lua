-- What is drawn is what will be: the pieces of an edit, carried out on the old text, give the new one.
-- Run with `nvim --headless -u NONE -l test/diff.lua` in the folder of the plugin.
vim.opt.runtimepath:prepend('.')
local diff = require('nudge.diff')

--- The line after the pieces that are inside of it.
local function changed(line, pieces)
  for i = #pieces, 1, -1 do
    local piece = pieces[i]
    if piece.kind == 'insert' then
      line = line:sub(1, piece.col) .. piece.text .. line:sub(piece.col + 1)
    else
      assert(line:sub(piece.col + 1, piece.end_col) == piece.text, 'a deletion names what it deletes')
      line = line:sub(1, piece.col) .. line:sub(piece.end_col + 1)
    end
  end
  return line
end

local function applied(row, old, pieces)
  local inside, gone, added = {}, {}, {}
  for _, piece in ipairs(pieces) do
    if piece.kind == 'add_lines' then
      added[piece.row] = piece.lines
    elseif piece.kind == 'delete_line' then
      gone[piece.row] = true
    else
      inside[piece.row] = inside[piece.row] or {}
      table.insert(inside[piece.row], piece)
    end
  end
  local new = vim.list_slice(added[row - 1] or {})
  for i, line in ipairs(old) do
    local at = row + i - 1
    if not gone[at] then
      table.insert(new, changed(line, inside[at] or {}))
    end
    vim.list_extend(new, added[at] or {})
  end
  return new
end

local words = { 'total', 'sum', ' ', '  ', '(', ')', ';', 'größe', '日本', '😀', 'é', 'è', '©', 'a', 'get', 'getName' }
vim.list_extend(words, { '"', ', ' })

local function random_line()
  local line = {}
  for _ = 1, math.random(0, 7) do
    table.insert(line, words[math.random(#words)])
  end
  return table.concat(line)
end

--- A text that has much in common with another.
local function varied(old)
  local new = {}
  for _, line in ipairs(old) do
    local dice = math.random(10)
    if dice <= 5 then
      table.insert(new, line)
    elseif dice <= 8 then
      table.insert(new, (line:gsub(vim.pesc(words[math.random(#words)]), words[math.random(#words)], 1)))
    elseif dice == 9 then
      table.insert(new, line)
      table.insert(new, random_line())
    end
  end
  return #new > 0 and new or { '' }
end

--- No piece begins or ends inside of a character.
local function whole_characters(piece)
  return piece.kind == 'add_lines' or not (piece.text:find('^[\128-\191]') or piece.text:find('[\194-\244]$'))
end

math.randomseed(1)
local count = 20000
for _ = 1, count do
  local old = {}
  for _ = 1, math.random(1, 5) do
    table.insert(old, random_line())
  end
  local new, row = varied(old), math.random(0, 3)
  local pieces = diff.pieces(row, old, new)
  local got = applied(row, old, pieces)
  local fine = vim.deep_equal(got, new) and vim.iter(pieces):all(whole_characters)
  assert(fine, vim.inspect({ old = old, new = new, pieces = pieces, got = got }))
end

for _, case in ipairs({
  { 'print(total);', 'print(sum);', 'print([-total-]{+sum+});' },
  { 'let x = fo', 'let x = foo()', 'let x = fo{+o()+}' },
  { 'getName()', 'getFullName()', 'get{+Full+}Name()' },
  { 'f(größe, "日本")', 'f(maß, "日本")', 'f([-größe-]{+maß+}, "日本")' },
  { 'f(a, b, c)', 'f(a, c)', 'f(a, [-b, -]c)' },
  { '', 'new', '{+new+}' },
  { ('x'):rep(5000) .. 'é', ('x'):rep(5000) .. '©', ('x'):rep(5000) .. '[-é-]{+©+}' },
  { ('x'):rep(5000) .. 'é', ('x'):rep(5000) .. 'è', ('x'):rep(5000) .. '[-é-]{+è+}' },
  { ('x'):rep(5000) .. 'a b', ('x'):rep(5000) .. 'c b', ('x'):rep(5000) .. '[-a-]{+c+} b' },
}) do
  local old, new, wanted = unpack(case)
  local pieces, drawn = diff.words(0, old, new), old
  for i = #pieces, 1, -1 do
    local piece = pieces[i]
    local mark = piece.kind == 'insert' and '{+' .. piece.text .. '+}' or '[-' .. piece.text .. '-]'
    drawn = drawn:sub(1, piece.col) .. mark .. drawn:sub((piece.end_col or piece.col) + 1)
  end
  assert(drawn == wanted, ('wanted %s, got %s'):format(wanted, drawn))
end
print(('%d texts'):format(count))
