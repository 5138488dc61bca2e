"""Tools that compile kernels ahead of their first use, and a progress bar that shows what is being compiled.

They call public methods, as users do; nothing else imports them. Read `precompile`, `calls`, then `processes`. A method
that needs arguments has a row in `calls`.
"""
