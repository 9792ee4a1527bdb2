-- The process behind a connection. When it dies another takes its place, is greeted as the first was and given the
-- documents as they are now; the editor's client stays, because one that ends takes the tracking of changes with it.
local M = {}

local FIRST_PAUSE_MS = 50
local LONGEST_PAUSE_MS = 10000
-- A process that has lived for so long did not die of being started.
local SOUND_MS = 5000
local CANCELLED = -32800

---@class nudge.TransportEvents
---@field lost fun() the process has died
---@field again fun(transport: vim.lsp.rpc.PublicClient) another one is in its place
---@field opens fun(uri: string): string? a document is about to be opened; the text it had before it was changed

---@class nudge.Transport
---@field private inner? vim.lsp.rpc.PublicClient the process, while it can be spoken to
---@field private greeting? table the parameters of `initialize`
---@field private waiting table<integer, fun()> what to do about open questions when the process dies
local Transport = {}
Transport.__index = Transport

---@param cmd string[]
---@param dispatchers vim.lsp.rpc.Dispatchers
---@param events nudge.TransportEvents
---@return vim.lsp.rpc.PublicClient
function M.start(cmd, dispatchers, events)
  local self = setmetatable({
    cmd = cmd,
    dispatchers = dispatchers,
    events = events,
    waiting = {},
    closing = false,
    pause = FIRST_PAUSE_MS,
  }, Transport)
  self.inner = self:spawn()
  self.public = {
    request = function(...)
      return self:request(...)
    end,
    notify = function(method, params)
      return self.inner ~= nil and self:notify(method, params)
    end,
    is_closing = function()
      return self.closing
    end,
    terminate = function()
      self.closing = true
      if self.process then
        self.process.terminate()
      end
    end,
  }
  return self.public
end

---@private
function Transport:spawn()
  local process
  local began = vim.uv.now()
  process = vim.lsp.rpc.start(self.cmd, {
    notification = self.dispatchers.notification,
    server_request = self.dispatchers.server_request,
    on_error = self.dispatchers.on_error,
    -- Called where the editor's state may not be looked at.
    on_exit = function()
      vim.schedule(function()
        self:ended(vim.uv.now() - began)
      end)
    end,
  })
  self.process = process
  return process
end

--- A document that was changed before it is opened is opened as it was and then changed, so that the server knows.
---@private
function Transport:notify(method, params)
  local opened = method == 'textDocument/didOpen' and params.textDocument
  local was = opened and self.events.opens(opened.uri)
  if not was or was == opened.text then
    return self.inner.notify(method, params)
  end
  local first = vim.tbl_extend('force', opened, { text = was, version = opened.version - 1 })
  return self.inner.notify(method, { textDocument = first })
    and self.inner.notify('textDocument/didChange', {
      textDocument = { uri = opened.uri, version = opened.version },
      contentChanges = { { text = opened.text } },
    })
end

---@private
function Transport:request(method, params, callback, notify_reply)
  if method == 'initialize' then
    self.greeting = params
  elseif method == 'shutdown' then
    self.closing = true
  end
  if not self.inner then
    return false
  end
  local id
  local sent
  sent, id = self.inner.request(method, params, function(...)
    self.waiting[id] = nil
    callback(...)
  end, notify_reply)
  if sent and id then
    self.waiting[id] = function()
      if notify_reply then
        notify_reply(id)
      end
      callback({ code = CANCELLED, message = 'the server has ended' }, nil, id)
    end
  end
  return sent, id
end

---@private
---@param lived integer milliseconds
function Transport:ended(lived)
  self.inner, self.process = nil, nil
  if self.closing or vim.v.exiting ~= vim.NIL then
    -- No message, which could cover what is being typed.
    self.dispatchers.on_exit(0, 0)
    return
  end
  local waiting = self.waiting
  self.waiting = {}
  for _, give_up in pairs(waiting) do
    give_up()
  end
  self.events.lost()
  self.pause = lived > SOUND_MS and FIRST_PAUSE_MS or math.min(self.pause * 2, LONGEST_PAUSE_MS)
  vim.defer_fn(function()
    self:again()
  end, self.pause)
end

---@private
function Transport:again()
  if self.closing or vim.v.exiting ~= vim.NIL then
    return
  end
  local started, process = pcall(self.spawn, self)
  if not started then
    self:ended(0)
    return
  end
  process.request('initialize', self.greeting, function(err)
    if err or self.process ~= process then
      return
    end
    process.notify('initialized', vim.empty_dict())
    self.inner = process
    self.events.again(self.public)
  end)
end

return M
