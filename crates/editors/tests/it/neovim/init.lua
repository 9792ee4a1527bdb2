-- The configuration of the tests: colours that can be told apart on the screen, and nothing that changes by itself. Nudge
-- is as it is without any setting.
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
}) do
  vim.api.nvim_set_hl(0, group, colors)
end
