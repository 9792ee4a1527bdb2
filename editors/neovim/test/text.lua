-- What a buffer was before it was changed is what its file says, unless somebody else has changed that since.
-- Run with `nvim --headless -u NONE -l test/text.lua` in the folder of the plugin.
vim.opt.runtimepath:prepend('.')
local text = require('nudge.text')

local name = vim.fn.tempname()
local file = assert(io.open(name, 'wb'))
file:write('\239\187\191one\ntwo\n')
file:close()
vim.o.swapfile = false
vim.cmd.edit(name)
local buf = vim.api.nvim_get_current_buf()

local function check(expected, when)
  local found = text.unchanged(buf)
  assert(found == expected, when .. ': ' .. vim.inspect(found))
end

local function change(line)
  vim.api.nvim_buf_set_lines(buf, 0, 1, true, { line })
  -- What follows is another change.
  vim.cmd('let &undolevels = &undolevels')
end

check('one\ntwo\n', 'nothing has changed')
change('more')
check('one\ntwo\n', 'the mark at the beginning is no text')
vim.cmd('silent write')
check('more\ntwo\n', 'it is saved')
change('again')
check('more\ntwo\n', 'it has changed since it was saved')
vim.uv.fs_utime(name, os.time() + 60, os.time() + 60)
check(nil, 'another program has changed it')
vim.fn.delete(name)
check(nil, 'it is gone')
