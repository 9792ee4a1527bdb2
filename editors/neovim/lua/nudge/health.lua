-- :checkhealth nudge
local M = {}

function M.check()
  local config = require('nudge.config')
  local health = vim.health
  health.start('nudge')
  if vim.fn.has('nvim-0.11') == 1 then
    health.ok('Neovim ' .. tostring(vim.version()))
  else
    health.error('Neovim is too old', 'Install Neovim 0.11 or later.')
  end
  M.program(config.values.cmd[1])
  M.connections()
  M.keys(config.values.keys)
  if not config.values.enabled then
    health.warn('suggestions are off', ':Nudge enable')
  end
end

---@param program string
function M.program(program)
  if vim.fn.executable(program) == 0 then
    vim.health.error(
      ('%s is not on $PATH'):format(program),
      "Install it, or name it: require('nudge').setup({ cmd = { '/path/to/nudge', 'lsp' } })"
    )
    return
  end
  local result = vim.system({ program, '--version' }, { text = true }):wait(5000)
  if result.code == 0 then
    vim.health.ok(('%s (%s)'):format(vim.trim(result.stdout), vim.fn.exepath(program)))
  else
    vim.health.error(('%s does not run'):format(program), vim.trim(result.stderr or ''))
  end
end

function M.connections()
  local clients = require('nudge.client').all()
  if #clients == 0 then
    vim.health.info('no file is open that Nudge would serve')
  end
  for _, client in ipairs(clients) do
    vim.health.ok(
      ('connected for %s, %d buffers, positions in %s'):format(
        client.root_dir or 'single files',
        vim.tbl_count(client.attached_buffers),
        client.offset_encoding
      )
    )
  end
  for _, line in ipairs(require('nudge.status').report()) do
    vim.health.info(line)
  end
end

--- A mapping of the user's under one of our keys goes on to work, but not while something is shown.
---@param keys table<string, string|false>
function M.keys(keys)
  for action, lhs in pairs(keys) do
    local mapping = lhs and vim.fn.maparg(lhs, 'i', false, true) or {}
    if mapping.lhs and mapping.desc ~= 'nudge' then
      vim.health.info(('%s is mapped; while something is shown it means %s'):format(lhs, action))
    end
  end
end

return M
