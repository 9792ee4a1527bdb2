-- What the user can set, and what holds when nothing is set.
local M = {}

---@class nudge.Config
M.defaults = {
  -- The program that is started; it is looked for on $PATH.
  cmd = { 'nudge', 'lsp' },
  -- Suggestions from the start; `:Nudge toggle` switches.
  enabled = true,
  -- How sure a suggestion must be: 'low' shows few, 'high' shows many.
  eagerness = 'medium',
  -- What may be suggested besides edits: the way to one, a rename (by the language's own server, if it can), a
  -- replacement everywhere.
  kinds = { 'jump', 'rename', 'searchAndReplace' },
  -- Filetypes without suggestions; a buffer is left out with `vim.b.nudge = false`.
  exclude = { 'gitcommit', 'gitrebase', 'help' },
  -- A file with more lines than this is left alone.
  max_lines = 200000,
  -- What marks the folder that is a project; without one the file stands alone.
  root_markers = { '.git', '.hg', '.jj' },
  -- Keys count only while something is shown, and have their usual meaning otherwise; `false` leaves a key alone.
  keys = {
    accept = '<Tab>',
    accept_word = '<C-Right>',
    -- Only for text at the cursor, where it would have nowhere to go.
    accept_line = '<End>',
    reject = '<Esc>',
  },
  -- What <Esc> does in insert mode to an edit that is not at the cursor: 'keep' leaves insert mode and keeps it on
  -- the screen, where the next <Esc> rejects it; 'reject' rejects it at once.
  insert_reject = 'keep',
  -- Say beside an edit or jump which key takes it and why it is offered.
  hint = true,
  -- How long the cursor rests after a move before suggestions are asked for; typing never waits.
  move_delay_ms = 20,
}

---@type nudge.Config
M.values = vim.deepcopy(M.defaults)

local levels = { low = true, medium = true, high = true }

---@param user? table
function M.set(user)
  local values = vim.tbl_deep_extend('force', M.defaults, user or {})
  for key in pairs(user or {}) do
    if M.defaults[key] == nil then
      vim.notify(('nudge: there is no setting %q'):format(key), vim.log.levels.WARN)
    end
  end
  vim.validate('cmd', values.cmd, 'table')
  vim.validate('kinds', values.kinds, 'table')
  vim.validate('keys', values.keys, 'table')
  vim.validate('eagerness', values.eagerness, function(level)
    return levels[level] == true
  end, "one of 'low', 'medium', 'high'")
  M.values = values
end

--- What the server is told, at its start and on every change.
function M.for_server()
  local values = M.values
  return { enabled = values.enabled, eagerness = values.eagerness, kinds = values.kinds, status = true }
end

---@param level string
---@return boolean known
function M.is_level(level)
  return levels[level] == true
end

return M
