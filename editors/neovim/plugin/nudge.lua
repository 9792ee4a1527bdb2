-- Starts Nudge when Neovim loads its plugins; everything else is loaded with the first buffer that needs it.
if vim.g.loaded_nudge then
  return
end
vim.g.loaded_nudge = true

if vim.fn.has('nvim-0.11') == 0 then
  vim.notify_once('nudge: Neovim 0.11 or later is needed', vim.log.levels.WARN)
  return
end

vim.api.nvim_create_user_command('Nudge', function(args)
  require('nudge.commands').run(args)
end, {
  nargs = '*',
  desc = 'Next edit suggestions',
  complete = function(...)
    return require('nudge.commands').complete(...)
  end,
})

vim.api.nvim_create_autocmd({ 'FileType', 'BufReadPost', 'BufNewFile', 'BufFilePost' }, {
  group = vim.api.nvim_create_augroup('nudge.attach', {}),
  desc = 'Start Nudge for files that are edited',
  callback = function(event)
    require('nudge').attach(event.buf)
  end,
})

-- A plugin manager may load this file after the first buffers.
if vim.v.vim_did_enter == 1 then
  require('nudge').attach_all()
end
