-- The command :Nudge.
local config = require('nudge.config')
local status = require('nudge.status')

local M = {}

---@type table<string, fun(argument?: string)>
local actions = {
  enable = function()
    require('nudge').enable(true)
    M.say_whether_on()
  end,
  disable = function()
    require('nudge').enable(false)
    M.say_whether_on()
  end,
  toggle = function()
    require('nudge').toggle()
    M.say_whether_on()
  end,
  status = function()
    M.say(table.concat(status.report(), '\n'))
  end,
  accept = function(part)
    if not require('nudge').accept(part) then
      M.say('nothing is shown')
    end
  end,
  reject = function()
    if not require('nudge').reject() then
      M.say('nothing is shown')
    end
  end,
  next = function()
    require('nudge').next()
  end,
  eagerness = function(level)
    if not config.is_level(level) then
      M.say(("eagerness is 'low', 'medium' or 'high'; now it is '%s'"):format(config.values.eagerness))
    else
      require('nudge').eagerness(level)
      M.say('eagerness is ' .. level)
    end
  end,
  log = function()
    vim.cmd.tabedit(vim.fn.fnameescape(vim.lsp.log.get_filename()))
  end,
  restart = function()
    require('nudge').restart()
  end,
}

local arguments = { accept = { 'word', 'line' }, eagerness = { 'low', 'medium', 'high' } }

---@param args vim.api.keyset.create_user_command.command_args
function M.run(args)
  local name, argument = args.fargs[1] or 'status', args.fargs[2]
  local action = actions[name]
  if action then
    action(argument)
  else
    M.say(('there is no :Nudge %s; see :help :Nudge'):format(name), vim.log.levels.ERROR)
  end
end

function M.complete(lead, line)
  local words = vim.split(vim.trim(line:gsub('^.-Nudge%s*', '', 1)), '%s+')
  local first_done = #words > 1 or (words[1] ~= '' and lead == '')
  local from = first_done and (arguments[words[1]] or {}) or vim.tbl_keys(actions)
  local fitting = vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, from)
  table.sort(fitting)
  return fitting
end

function M.say_whether_on()
  M.say(config.values.enabled and 'suggestions are on' or 'suggestions are off')
end

---@param words string
---@param level? integer
function M.say(words, level)
  vim.notify('nudge: ' .. words, level or vim.log.levels.INFO)
end

return M
