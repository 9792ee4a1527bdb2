-- The one suggestion that is on the screen: asked for, kept while it holds, replaced, taken away.
local client = require('nudge.client')
local config = require('nudge.config')
local keys = require('nudge.keys')
local show = require('nudge.show')
local status = require('nudge.status')
local text = require('nudge.text')

local M = {}

local api = vim.api
-- What is on the screen may be out of date for so long, in milliseconds, before it is taken away.
local STALE_MS = 500
-- A key waits so long for the answer to the last change.
local WAIT_MS = 200
local CANCELLED = { [-32800] = true, [-32801] = true }

---@class nudge.Shown
---@field id string
---@field kind 'edit'|'jump'|'workspace'|'rename'
---@field buf integer where it is shown
---@field tick integer the buffer's state that it is for
---@field client vim.lsp.Client
---@field raw table as the server said it
---@field pieces nudge.Piece[]
---@field ghost? string what would be typed at the cursor
---@field edits? lsp.TextEdit[] of kind 'edit'
---@field workspace? lsp.WorkspaceEdit of kind 'workspace'
---@field target { uri: string, position: lsp.Position } where it is about
---@field stale? boolean the text has changed since
---@field key string the same for the same effect at the same place

---@type nudge.Shown?
local shown
-- The number of the last question; answers to older ones are dropped.
local asked, answered = 0, 0
-- The number of the last question that had a cause of its own: the user, or a diagnostic.
local caused = 0
-- After a rejection nothing is asked until the text changes.
local quiet = false
--- The state of each buffer that was last looked at.
---@type table<integer, integer>
local seen = {}
---@type table<string, true>
local rejected = {}

---@return nudge.Shown?
function M.current()
  return shown
end

--- Asks for suggestions at the cursor.
---@param trigger 'automatic'|'manual'|'diagnostic'
---@param done? fun(shown?: nudge.Shown)
function M.ask(trigger, done)
  local buf = api.nvim_get_current_buf()
  local server = client.of(buf)
  if not server or not M.may_ask(trigger) then
    return
  end
  asked = asked + 1
  caused = trigger ~= 'automatic' and asked or caused
  local question = {
    number = asked,
    buf = buf,
    tick = api.nvim_buf_get_changedtick(buf),
    cursor = api.nvim_win_get_cursor(0),
    began = vim.uv.hrtime(),
    client = server,
    manual = trigger == 'manual',
  }
  local params = M.params(buf, trigger, server.offset_encoding)
  local sent = server:request('nudge/suggest', params, function(err, result)
    -- A mistake here must not put a message over what is being typed.
    local fine, problem = pcall(M.take, question, err, result)
    if not fine then
      vim.lsp.log.error('nudge', problem)
      status.why = problem
      M.hide('cancelled')
    end
    if done and question.number == asked then
      done(shown)
    end
  end, buf)
  if not sent then
    answered = asked
  end
end

function M.may_ask(trigger)
  if trigger == 'manual' then
    return true
  end
  local mode = api.nvim_get_mode().mode
  return config.values.enabled
    and not quiet
    and vim.b.nudge ~= false
    and (mode == 'n' or mode:sub(1, 1) == 'i')
    and vim.fn.reg_executing() == ''
    and vim.fn.pumvisible() == 0
end

function M.params(buf, trigger, encoding)
  local cursor = api.nvim_win_get_cursor(0)
  return {
    textDocument = { uri = vim.uri_from_bufnr(buf), version = vim.lsp.util.buf_versions[buf] },
    position = text.to_position(buf, cursor[1] - 1, cursor[2], encoding),
    visible = M.visible(),
    trigger = trigger,
  }
end

--- The lines on the screen, as a range.
function M.visible()
  return {
    start = { line = vim.fn.line('w0') - 1, character = 0 },
    ['end'] = { line = vim.fn.line('w$'), character = 0 },
  }
end

--- An answer has come.
function M.take(question, err, result)
  if question.number ~= asked then
    return
  end
  answered = question.number
  if err then
    if not CANCELLED[err.code] then
      status.why = err.message
    end
    M.hide('cancelled')
    return
  end
  status.answered((vim.uv.hrtime() - question.began) / 1e6, result.elapsedMs)
  status.why = result.why
  if M.still_holds(question) then
    M.put(question, result.suggestions or {})
  end
end

--- Whether the editor is where it was when the question was asked.
function M.still_holds(question)
  return api.nvim_get_current_buf() == question.buf
    and api.nvim_buf_get_changedtick(question.buf) == question.tick
    and vim.deep_equal(api.nvim_win_get_cursor(0), question.cursor)
    and (question.manual or M.may_ask('automatic'))
end

--- Shows the first suggestion that can be shown; what follows it leads on from there.
function M.put(question, suggestions)
  local new
  for _, raw in ipairs(suggestions) do
    new = new or require('nudge.prepare').prepare(question, raw)
  end
  if new and (question.manual or not rejected[new.key]) then
    M.replace(new, question)
  else
    M.hide('ignored')
  end
end

---@param new nudge.Shown
function M.replace(new, question)
  local old = shown
  if old and old.id ~= new.id then
    client.notify(old.buf, 'nudge/reject', { id = old.id, reason = 'replaced' })
  end
  if old then
    show.clear(old.buf)
  end
  require('nudge.prepare').draw(new, question)
  shown = new
  status.shown = true
  keys.set(new)
end

--- Takes away what is on the screen and says why.
---@param reason? 'rejected'|'ignored'|'replaced'|'cancelled' nothing is said without one
function M.hide(reason)
  local old = shown
  if not old then
    return
  end
  shown = nil
  status.shown = false
  keys.unset()
  show.clear(old.buf)
  if reason then
    client.notify(old.buf, 'nudge/reject', { id = old.id, reason = reason })
  end
end

--- The user does not want it: it is gone, and nothing comes until the text changes.
---@return boolean there_was_one
function M.reject()
  if not shown then
    return false
  end
  rejected[shown.key] = true
  quiet = true
  asked, answered = asked + 1, asked + 1
  M.hide('rejected')
  return true
end

--- The text has changed. An edit that is shown stays until the answer for the new text comes, so that nothing flickers.
--- Text at the cursor stays if the user has typed the next of it.
---@param buf integer
function M.changed(buf)
  seen[buf] = api.nvim_buf_get_changedtick(buf)
  quiet = false
  if shown then
    if shown.ghost and not require('nudge.prepare').typed_into(shown) then
      M.hide('ignored')
    else
      M.mark_stale(shown)
    end
  end
  M.ask('automatic')
end

---@param what nudge.Shown
function M.mark_stale(what)
  what.stale = true
  if api.nvim_get_current_buf() ~= what.buf then
    M.hide('ignored')
    return
  end
  vim.defer_fn(function()
    if shown == what and what.stale then
      M.hide('ignored')
    end
  end, STALE_MS)
end

local move_timer = vim.uv.new_timer()

--- A buffer is looked at from now on.
---@param buf integer
function M.entered(buf)
  seen[buf] = api.nvim_buf_get_changedtick(buf)
  M.moved(buf)
end

--- The cursor has moved. With a change of the text, the event of that comes as well.
---@param buf integer
function M.moved(buf)
  if seen[buf] ~= api.nvim_buf_get_changedtick(buf) then
    return
  end
  local at = shown
  if at and at.ghost and not at.stale and not M.at_ghost(at) then
    M.hide('ignored')
  end
  move_timer:stop()
  move_timer:start(config.values.move_delay_ms, 0, vim.schedule_wrap(function()
    -- A question with a cause of its own is waited for.
    local waits = caused == asked and answered ~= asked
    if not (shown and shown.ghost) and not waits then
      M.ask(shown and shown.raw.predictor == 'diagnostic' and 'diagnostic' or 'automatic')
    end
  end))
end

---@param what nudge.Shown
function M.at_ghost(what)
  local cursor = api.nvim_win_get_cursor(0)
  return what.pieces[1].row == cursor[1] - 1 and (what.pieces[1].col or cursor[2]) == cursor[2]
end

--- Whether nothing is asked or about to be asked.
function M.idle()
  local buf = api.nvim_get_current_buf()
  return asked == answered and not move_timer:is_active() and seen[buf] == api.nvim_buf_get_changedtick(buf)
end

--- Waits a moment for the answer to the last question, so that a key acts on what is right now.
---@return nudge.Shown?
function M.settled()
  if shown and shown.stale then
    vim.wait(WAIT_MS, function()
      return answered == asked or not shown
    end, 1)
  end
  if shown and not shown.stale then
    return shown
  end
end

return M
