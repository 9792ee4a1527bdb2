-- Next edit suggestions in Neovim: what a user's configuration calls.
local client = require('nudge.client')
local config = require('nudge.config')
local status = require('nudge.status')
local suggest = require('nudge.suggest')

local M = {}

local api = vim.api
local watching = false

--- Changes settings. It need not be called; see |nudge-settings| for what there is.
---@param user? table
function M.setup(user)
  config.set(user)
  if #client.all() > 0 then
    client.stop(false)
  end
  if vim.v.vim_did_enter == 1 then
    M.attach_all()
  end
end

--- Begins with a buffer, if it is a file that is edited.
---@param buf integer
function M.attach(buf)
  if not client.wanted(buf) then
    return
  end
  M.watch()
  client.attach(buf)
end

function M.attach_all()
  vim.iter(api.nvim_list_bufs()):each(M.attach)
end

--- Takes what is shown; with a part, only its next word or line.
---@param part? 'word'|'line'
---@return boolean taken
function M.accept(part)
  return require('nudge.accept').accept(part)
end

--- Rejects what is shown.
---@return boolean there_was_one
function M.reject()
  return suggest.reject()
end

--- Asks for a suggestion now, and goes to it.
function M.next()
  suggest.ask('manual', function(shown)
    if shown then
      if not shown.ghost and not require('nudge.prepare').under_cursor(shown) then
        require('nudge.accept').go(shown)
      end
    else
      vim.notify('nudge: nothing to suggest' .. (status.why and (': ' .. status.why) or ''))
    end
  end)
end

---@param on boolean
function M.enable(on)
  config.values.enabled = on
  if not on then
    suggest.hide('cancelled')
  end
  client.configure()
  status.set(on and 'ready' or 'off')
end

function M.toggle()
  M.enable(not config.values.enabled)
end

---@param level 'low'|'medium'|'high'
function M.eagerness(level)
  config.values.eagerness = level
  client.configure()
end

function M.restart()
  suggest.hide('cancelled')
  client.stop(true)
end

--- For a status line: `nudge 3ms`, with ⇥ while there is something to take.
---@return string
function M.statusline()
  return client.of(0) and status.line() or ''
end

--- Looks at what happens in buffers that Nudge serves.
function M.watch()
  if watching then
    return
  end
  watching = true
  require('nudge.show').highlights()
  local group = api.nvim_create_augroup('nudge', {})
  local function on(events, callback, pattern)
    api.nvim_create_autocmd(events, { group = group, pattern = pattern, callback = callback })
  end
  on({ 'TextChanged', 'TextChangedI' }, M.if_served(suggest.changed))
  on({ 'CursorMoved', 'CursorMovedI' }, M.if_served(suggest.moved))
  on('CompleteDone', M.if_served(suggest.changed))
  on('CompleteChanged', M.hides('cancelled'))
  on({ 'BufLeave', 'WinLeave' }, M.hides('ignored'))
  on('ModeChanged', M.hides('cancelled'), '*:[vVsS\22\19Rr!t]*')
  on('BufEnter', M.if_served(M.focused))
  on('ColorScheme', require('nudge.show').highlights)
  on('DiagnosticChanged', function(event)
    require('nudge.diagnostics').changed(event.buf)
  end)
  on('User', M.ready, 'NudgeReady')
  on('User', M.hides('cancelled'), 'NudgeLost')
end

---@param callback fun(buf: integer)
function M.if_served(callback)
  return function(event)
    if event.buf == api.nvim_get_current_buf() and client.of(event.buf) then
      callback(event.buf)
    end
  end
end

function M.hides(reason)
  return function()
    suggest.hide(reason)
  end
end

--- A server is there, perhaps in place of one that has died: it is told what the last one knew, and asked.
function M.ready()
  require('nudge.diagnostics').forget()
  vim.schedule(function()
    for _, buf in ipairs(api.nvim_list_bufs()) do
      if client.of(buf) then
        require('nudge.diagnostics').changed(buf)
      end
    end
    M.if_served(M.focused)({ buf = api.nvim_get_current_buf() })
  end)
end

---@param buf integer
function M.focused(buf)
  local server = client.of(buf)
  local params = suggest.params(buf, nil, server.offset_encoding)
  server:notify('nudge/didFocus', params)
  suggest.entered(buf)
end

return M
