-- What Nudge is doing, for the status line and for `:Nudge status`.
local M = {
  ---@type 'none'|'connecting'|'ready'|'off'|'failed'
  state = 'none',
  ---@type string?
  message = nil,
  --- Milliseconds from the keystroke to the answer, as the editor sees it.
  ---@type number?
  latency = nil,
  --- The part of it that the server took.
  ---@type number?
  server = nil,
  --- Why nothing was offered, if the server said so.
  ---@type string?
  why = nil,
  shown = false,
}

local words = { none = '', connecting = '…', ready = '', off = 'off', failed = '!' }

---@param state string
---@param message? string
function M.set(state, message)
  if M.state == state and M.message == message then
    return
  end
  M.state, M.message = state, message
  vim.schedule(vim.cmd.redrawstatus)
end

---@param milliseconds number
---@param server? number
function M.answered(milliseconds, server)
  M.latency, M.server = milliseconds, server
end

--- A few characters for the status line; empty where Nudge is not at work.
---@return string
function M.line()
  if M.state == 'none' then
    return ''
  end
  local parts = { 'nudge' }
  if words[M.state] and words[M.state] ~= '' then
    table.insert(parts, words[M.state])
  elseif M.latency then
    table.insert(parts, ('%dms'):format(math.floor(M.latency + 0.5)))
  end
  if M.shown then
    table.insert(parts, '⇥')
  end
  return table.concat(parts, ' ')
end

--- Whole sentences for a person.
---@return string[]
function M.report()
  local lines = { 'state: ' .. M.state .. (M.message and (' (' .. M.message .. ')') or '') }
  if M.latency then
    local server = M.server and (', of which the server %.1f ms'):format(M.server) or ''
    table.insert(lines, ('last answer: %.1f ms%s'):format(M.latency, server))
  end
  if M.why then
    table.insert(lines, 'nothing offered: ' .. M.why)
  end
  return lines
end

return M
