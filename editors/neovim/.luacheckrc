-- For `luacheck --config editors/neovim/.luacheckrc editors/neovim`.
std = 'luajit'
globals = { 'vim' }
max_line_length = 120
