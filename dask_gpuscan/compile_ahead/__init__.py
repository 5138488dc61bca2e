"""Compiling ahead: tools that fill the cache of kernels, and a progress bar that shows what is compiled.

They call public methods, as users do; nothing else imports them. Read `precompile`, `calls`, then `processes`.
A method that needs arguments has a row in `calls`.
"""
