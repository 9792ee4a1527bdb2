-- Types names into a long file and measures each keystroke until its suggestion is drawn; writes a table and quits.
vim.opt.runtimepath:prepend(vim.env.NUDGE_PLUGIN)
vim.o.swapfile = false
vim.o.background = 'dark'

local wanted = tonumber(vim.env.BENCH_KEYS)
local WARM_UP = 50
-- A keystroke without a suggestion is not counted, and not waited for any longer than this.
local GIVE_UP_MS = 500
local PAUSE_MS = 15

local now = vim.uv.hrtime
local columns = {
  { 'keystroke to drawn', 'drawn', 'key' },
  { 'keystroke to question sent (change tracking of the editor, our parameters)', 'sent', 'key' },
  { 'question to answer', 'answer', 'sent' },
  { 'answer to drawn (our marks, redraw of the editor)', 'drawn', 'answer' },
}
local samples, server_ms = {}, {}
local at = {}

-- The key has come and nothing has been done about it yet.
vim.api.nvim_create_autocmd('InsertCharPre', {
  callback = function()
    at = { key = now() }
  end,
})

require('nudge').setup({ cmd = { vim.env.NUDGE_BIN, 'lsp' } })
local suggest = require('nudge.suggest')
local status = require('nudge.status')

local ask, take = suggest.ask, suggest.take
function suggest.ask(...)
  ask(...)
  at.sent = at.sent or now()
end
function suggest.take(...)
  at.answer = at.drawn and at.answer or now()
  take(...)
end

local step
local waiting = 0

local function finish()
  local lines = { '| part | p50 | p99 | slowest |', '| --- | ---: | ---: | ---: |' }
  local function row(name, values)
    table.sort(values)
    local function pick(share)
      return values[math.max(1, math.ceil(#values * share))]
    end
    table.insert(lines, ('| %s | %.2f ms | %.2f ms | %.2f ms |'):format(name, pick(0.5), pick(0.99), values[#values]))
  end
  for _, column in ipairs(columns) do
    row(column[1], vim.tbl_map(function(sample)
      return (sample[column[2]] - sample[column[3]]) / 1e6
    end, samples))
    if column[2] == 'answer' then
      row('of which nudge lsp and the daemon, by their own clock', server_ms)
    end
  end
  table.insert(lines, 1, ('%d keystrokes with a suggestion in a file of %d lines, Neovim %s\n'):format(
    #samples,
    vim.api.nvim_buf_line_count(0),
    tostring(vim.version())
  ))
  vim.fn.writefile(vim.split(table.concat(lines, '\n'), '\n'), vim.env.BENCH_OUT)
  vim.cmd('qall!')
end

local function next_step()
  waiting = waiting + 1
  vim.defer_fn(step, PAUSE_MS)
end

-- The end of a redraw that has the suggestion on it.
local seen = 0
vim.api.nvim_set_decoration_provider(vim.api.nvim_create_namespace('bench'), {
  on_end = function()
    if at.answer and not at.drawn and at.key and suggest.current() and not suggest.current().stale then
      at.drawn = now()
      seen = seen + 1
      if seen > WARM_UP then
        table.insert(samples, at)
        table.insert(server_ms, status.server or 0)
      end
      vim.schedule(next_step)
    end
  end,
})

local letters = 'abcdefghijklmnopqrstuvwxyz'
local typed, line = 0, 2

step = function()
  if #samples >= wanted or line > vim.api.nvim_buf_line_count(0) then
    return finish()
  end
  local mine = waiting
  at = {}
  if typed == 0 then
    -- What was offered is taken, as by a person who likes it.
    vim.api.nvim_input((suggest.current() and '<Tab>' or '') .. '<Esc>' .. line .. 'Gzz0wwciw')
  end
  typed = typed + 1
  local letter = (line * 7 + typed * 11) % 26 + 1
  vim.api.nvim_input(letters:sub(letter, letter))
  if typed == 8 then
    typed, line = 0, line + 8
  end
  vim.defer_fn(function()
    if mine == waiting then
      next_step()
    end
  end, GIVE_UP_MS)
end

vim.api.nvim_create_autocmd('User', {
  pattern = 'NudgeReady',
  once = true,
  callback = function()
    vim.defer_fn(step, 3000)
  end,
})
