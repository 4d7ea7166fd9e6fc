autocmd BufRead,BufNewFile /etc/tacit/*.cfg setfiletype tacit
