-- The configuration of the tests: colours that can be told apart on the screen, and nothing that changes by itself.
-- Nudge is as it is without any setting, and so is a plugin of others in its place.
vim.opt.runtimepath:prepend(vim.env.NUDGE_PLUGIN)
vim.o.swapfile = false
vim.o.ruler = false
vim.o.showcmd = false
vim.o.shortmess = vim.o.shortmess .. 'I'
vim.o.background = 'dark'
vim.cmd.syntax('off')
for group, colors in pairs({
  NudgeAdd = { ctermbg = 2 },
  NudgeDelete = { ctermbg = 1 },
  NudgeGhost = { ctermfg = 6 },
  NudgeHint = { ctermfg = 5 },
  CopilotLspNesAdd = { ctermbg = 2 },
  CopilotLspNesDelete = { ctermbg = 1 },
  SidekickDiffAdd = { ctermbg = 2 },
  SidekickDiffDelete = { ctermbg = 1 },
}) do
  vim.api.nvim_set_hl(0, group, colors)
end

-- What the tests ask about a plugin of others.
local watch = {}
package.loaded['nudge_test'] = watch

-- What `nudge lsp` says of itself when such a plugin has started it for this buffer.
function watch.state()
  local client = vim.lsp.get_clients({ bufnr = 0 })[1]
  local said = client and client:request_sync('workspace/executeCommand', { command = 'nudge.status' }, 10000, 0)
  return said and said.result and said.result.state
end

-- Whether its last question was about the text as it is, and has its answer.
local asked, answered
function watch.is_answered()
  return answered == vim.b.changedtick
end
vim.api.nvim_create_autocmd('LspRequest', {
  callback = function(event)
    local request = event.data.request
    if request.method ~= 'textDocument/copilotInlineEdit' then
      return
    elseif request.type == 'pending' then
      asked = vim.b[event.buf].changedtick
    elseif request.type == 'complete' then
      answered = asked
    end
  end,
})

dofile(vim.env.NUDGE_TEST_CONFIG)
