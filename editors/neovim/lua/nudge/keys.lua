-- Keys, mapped only while something is shown: at all other times they are the user's own.
local config = require('nudge.config')

local M = {}

---@class nudge.Mapping
---@field mode string
---@field lhs string
---@field before? table what the buffer had there

---@type { buf: integer, ghost: boolean, mappings: nudge.Mapping[] }?
local active

local function accept(part)
  return function()
    return require('nudge.accept').accept(part)
  end
end

local function reject()
  require('nudge.suggest').reject()
  -- The key goes on to do what it does anyway.
  return false
end

--- Which keys count in which modes.
local function wanted(shown)
  local keys = config.values.keys
  local rejects_insert = shown.ghost ~= nil or config.values.insert_reject == 'reject'
  return {
    { keys.accept, { 'i', 'n' }, accept() },
    { keys.accept_word, { 'i', 'n' }, accept('word') },
    { keys.accept_line, shown.ghost and { 'i' } or {}, accept('line') },
    { keys.reject, rejects_insert and { 'i', 'n' } or { 'n' }, reject },
  }
end

---@param shown nudge.Shown
function M.set(shown)
  local ghost = shown.ghost ~= nil
  if active and active.buf == shown.buf and active.ghost == ghost then
    return
  end
  M.unset()
  active = { buf = shown.buf, ghost = ghost, mappings = {} }
  for _, entry in ipairs(wanted(shown)) do
    local lhs, modes, action = unpack(entry)
    if lhs then
      for _, mode in ipairs(modes) do
        M.map(shown.buf, mode, lhs, action)
      end
    end
  end
end

function M.map(buf, mode, lhs, action)
  local before
  vim.api.nvim_buf_call(buf, function()
    before = vim.fn.maparg(lhs, mode, false, true)
  end)
  table.insert(active.mappings, { mode = mode, lhs = lhs, before = before.buffer == 1 and before or nil })
  vim.keymap.set(mode, lhs, function()
    local count = vim.v.count
    if not action() then
      M.pass_on(lhs, count)
    end
  end, { buffer = buf, desc = 'nudge' })
end

--- Lets a key do what it does without us: our mappings are gone by then, so the user's own is found, if there is one.
function M.pass_on(lhs, count)
  require('nudge.suggest').hide('ignored')
  local typed = (count > 0 and tostring(count) or '') .. lhs
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(typed, true, true, true), 'im', false)
end

function M.unset()
  local old = active
  active = nil
  if not old or not vim.api.nvim_buf_is_valid(old.buf) then
    return
  end
  for _, mapping in ipairs(old.mappings) do
    pcall(vim.keymap.del, mapping.mode, mapping.lhs, { buffer = old.buf })
    if mapping.before then
      vim.api.nvim_buf_call(old.buf, function()
        vim.fn.mapset(mapping.mode, false, mapping.before)
      end)
    end
  end
end

return M
