-- The connection to `nudge lsp`, one for each project.
local config = require('nudge.config')
local status = require('nudge.status')
local text = require('nudge.text')
local transport = require('nudge.transport')

local M = {}

local NAME = 'nudge'

--- Which client serves a buffer.
---@type table<integer, integer>
local serves = {}
--- The texts of buffers when their server was started, by URI, until it is told of them: what is typed then counts.
---@type table<string, string>
local before = {}
--- Clients that were told to stop, which takes them a moment.
---@type table<integer, true>
local dismissed = {}

---@param buf integer 0 is the current one
---@return vim.lsp.Client?
function M.of(buf)
  local id = serves[buf == 0 and vim.api.nvim_get_current_buf() or buf]
  local client = id and vim.lsp.get_client_by_id(id)
  if client and client.initialized and not client:is_stopped() then
    return client
  end
end

--- All connections, one for each project.
function M.all()
  return vim.lsp.get_clients({ name = NAME })
end

---@param buf integer
function M.attach(buf)
  if not M.wanted(buf) or M.of(buf) then
    return
  end
  local cmd = config.values.cmd
  if vim.fn.executable(cmd[1]) == 0 then
    status.set('failed', cmd[1] .. ' is not installed')
    vim.notify_once(
      ('nudge: %s was not found on $PATH; see :checkhealth nudge'):format(cmd[1]),
      vim.log.levels.WARN
    )
    return
  end
  local root = vim.fs.root(buf, config.values.root_markers)
  before[vim.uri_from_bufnr(buf)] = text.unchanged(buf)
  serves[buf] = vim.lsp.start(M.describe(root), {
    bufnr = buf,
    silent = true,
    reuse_client = function(client)
      return client.name == NAME and client.root_dir == root and not client:is_stopped() and not dismissed[client.id]
    end,
  })
end

--- Whether a buffer is a file that a person edits.
---@param buf integer
function M.wanted(buf)
  if not vim.api.nvim_buf_is_loaded(buf) or vim.bo[buf].buftype ~= '' or vim.b[buf].nudge == false then
    return false
  end
  local name = vim.api.nvim_buf_get_name(buf)
  return name ~= ''
    and not name:match('^%w+://')
    and not vim.list_contains(config.values.exclude, vim.bo[buf].filetype)
    and vim.api.nvim_buf_line_count(buf) <= config.values.max_lines
end

---@param root? string
---@return vim.lsp.ClientConfig
function M.describe(root)
  return {
    name = NAME,
    cmd = M.spawn,
    root_dir = root,
    init_options = config.for_server(),
    -- A question sends what has changed in any case; with nothing waiting, opening a document again is simple.
    flags = { debounce_text_changes = 0 },
    handlers = {
      ['nudge/status'] = M.told,
    },
    on_init = M.greeted,
  }
end

function M.spawn(dispatchers)
  status.set('connecting')
  return transport.start(config.values.cmd, dispatchers, {
    lost = function()
      status.set('connecting', 'nudge lsp has ended and is started again')
      M.announce('NudgeLost')
    end,
    opens = function(uri)
      local was = before[uri]
      before[uri] = nil
      return was
    end,
    again = function(connection)
      for _, client in ipairs(M.all()) do
        if client.rpc == connection then
          M.open_again(client)
        end
      end
    end,
  })
end

--- Tells a new process of what the last one knew.
---@param client vim.lsp.Client
function M.open_again(client)
  M.configure(client)
  for buf in pairs(client.attached_buffers) do
    client:notify('textDocument/didOpen', {
      textDocument = {
        uri = vim.uri_from_bufnr(buf),
        languageId = client.get_language_id(buf, vim.bo[buf].filetype),
        version = vim.lsp.util.buf_versions[buf],
        text = text.whole(buf),
      },
    })
  end
  M.announce('NudgeReady')
end

---@param event 'NudgeReady'|'NudgeLost'
function M.announce(event)
  vim.api.nvim_exec_autocmds('User', { pattern = event, modeline = false })
end

--- The server says how it is; it may have been without its daemon for a while.
function M.told(_, said)
  local was = status.state
  status.set(said.state, said.message)
  if said.state == 'ready' and was ~= 'ready' then
    M.announce('NudgeReady')
  end
end

---@param client vim.lsp.Client
function M.greeted(client)
  -- What this plugin shows itself must not be offered again by the editor's own means.
  client.server_capabilities.inlineCompletionProvider = nil
  client.server_capabilities.codeActionProvider = nil
  -- Something may have been set since it was started.
  M.configure(client)
  M.announce('NudgeReady')
end

--- Stops every connection and, if wanted, makes it again.
---@param again boolean
function M.stop(again)
  local bufs = vim.tbl_keys(serves)
  for _, client in ipairs(M.all()) do
    dismissed[client.id] = true
    client:stop(true)
  end
  serves = {}
  status.set('none')
  if again then
    vim.schedule(function()
      vim.iter(vim.tbl_filter(vim.api.nvim_buf_is_valid, bufs)):each(M.attach)
    end)
  end
end

--- Tells a server, or all of them, what is set now.
---@param client? vim.lsp.Client
function M.configure(client)
  for _, each in ipairs(client and { client } or M.all()) do
    each:notify('workspace/didChangeConfiguration', { settings = { nudge = config.for_server() } })
  end
end

---@param buf integer
---@param method string
---@param params table
function M.notify(buf, method, params)
  local client = M.of(buf)
  if client then
    client:notify(method, params)
  end
end

return M
