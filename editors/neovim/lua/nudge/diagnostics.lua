-- What other servers and linters say of a buffer, passed on to Nudge.
local client = require('nudge.client')
local suggest = require('nudge.suggest')
local text = require('nudge.text')

local M = {}

local api = vim.api
local namespace = api.nvim_create_namespace('nudge.diagnostics')

--- What was last heard of a buffer, so that nothing is said twice.
---@type table<integer, string>
local heard = {}
--- What holds of it, by the mark that moves along with the text.
---@type table<integer, table<integer, vim.Diagnostic>>
local open = {}

---@param buf integer
function M.changed(buf)
  if not client.of(buf) then
    return
  end
  local list = vim.diagnostic.get(buf)
  local key = M.key(list)
  if heard[buf] == key or (heard[buf] == nil and #list == 0) then
    return
  end
  heard[buf] = key
  M.track(buf, list)
  M.say(buf)
  if #list > 0 and buf == api.nvim_get_current_buf() and not suggest.current() then
    suggest.ask('diagnostic')
  end
end

--- What is said of lines that a suggestion changes is no longer so, until it is said again: linters take their time.
---@param buf integer
---@param pieces nudge.Piece[]
function M.fixed(buf, pieces)
  if not open[buf] or vim.tbl_isempty(open[buf]) then
    return
  end
  local rows = {}
  for _, piece in ipairs(pieces) do
    rows[piece.row] = true
  end
  for mark in pairs(open[buf]) do
    if rows[api.nvim_buf_get_extmark_by_id(buf, namespace, mark, {})[1]] then
      open[buf][mark] = nil
    end
  end
  M.say(buf)
end

--- Forgets what was said, because whoever it was said to is gone.
function M.forget()
  heard = {}
end

---@param list vim.Diagnostic[]
function M.key(list)
  return vim.json.encode(vim.tbl_map(function(diagnostic)
    local place = { diagnostic.lnum, diagnostic.col, diagnostic.end_lnum or -1, diagnostic.end_col or -1 }
    return { place, diagnostic.severity, diagnostic.source or '', diagnostic.message }
  end, list))
end

---@param buf integer
---@param list vim.Diagnostic[]
function M.track(buf, list)
  api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  open[buf] = {}
  for _, diagnostic in ipairs(list) do
    local mark = api.nvim_buf_set_extmark(buf, namespace, diagnostic.lnum, diagnostic.col, {
      end_row = diagnostic.end_lnum or diagnostic.lnum,
      end_col = diagnostic.end_col or diagnostic.col,
      strict = false,
    })
    open[buf][mark] = diagnostic
  end
end

---@param buf integer
function M.say(buf)
  local server = client.of(buf)
  if not server then
    return
  end
  local list = {}
  for _, mark in ipairs(api.nvim_buf_get_extmarks(buf, namespace, 0, -1, { details = true })) do
    local diagnostic = open[buf][mark[1]]
    if diagnostic then
      table.insert(list, M.convert(buf, diagnostic, mark, server.offset_encoding))
    end
  end
  server:notify('nudge/diagnostics', {
    uri = vim.uri_from_bufnr(buf),
    version = vim.lsp.util.buf_versions[buf],
    diagnostics = list,
  })
end

---@param diagnostic vim.Diagnostic
---@param mark table where it is now
---@return lsp.Diagnostic
function M.convert(buf, diagnostic, mark, encoding)
  local _, row, col, details = unpack(mark)
  local from_server = vim.tbl_get(diagnostic, 'user_data', 'lsp') or {}
  return {
    range = {
      start = text.to_position(buf, row, col, encoding),
      ['end'] = text.to_position(buf, details.end_row or row, details.end_col or col, encoding),
    },
    severity = diagnostic.severity,
    code = diagnostic.code,
    source = diagnostic.source,
    message = diagnostic.message,
    relatedInformation = from_server.relatedInformation,
    tags = from_server.tags,
  }
end

return M
